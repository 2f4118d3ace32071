import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { filesIn, ROOT } from './source-files.ts';

const DOMAINS = 'control-plane/src/domains/';
/** Folders that a document gives its paths from, and short words for folders. */
const BASES: Record<string, readonly string[]> = {
  'docs/traceability.md': ['', 'control-plane/src/', 'control-plane/', 'tests/'],
  'ARCHITECTURE.md': ['', 'control-plane/src/', DOMAINS, `${DOMAINS}allocations/`, `${DOMAINS}billing/`],
  'CONTRIBUTING.md': ['', 'control-plane/src/', DOMAINS, 'contracts/', 'console/src/'],
};
const ENDINGS = ['', '.ts', '.tsx', '.test.ts', '.deep.test.ts'];

describe('paths that documents name', () => {
  it.each(Object.entries(BASES))('exist: %s', (document, bases) => {
    const text = filesIn('', '.md').find(({ path }) => path === document)!.text;
    const prose = text.replaceAll(/```[\s\S]*?```/g, '');
    const named = [...prose.matchAll(/`([\w.{},*-]+(?:\/[\w.{},*-]*)+)`/g)].map(([, path]) => path!);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !expanded(path).every((one) => leadsSomewhere(one, bases)))).toEqual([]);
  });
});

function leadsSomewhere(path: string, bases: readonly string[]): boolean {
  const full = path.replace(/^itest\//, 'tests/integration/');
  return bases.some((base) =>
    ENDINGS.some((ending) => globSync(`${base}${full}${ending}`, { cwd: ROOT }).length > 0),
  );
}

/** `a/{b,c}.ts` is two paths. */
function expanded(path: string): string[] {
  const [group, inside] = /\{([^{}]*)\}/.exec(path) ?? [];
  if (group === undefined) return [path];
  return inside!.split(',').flatMap((word) => expanded(path.replace(group, word)));
}
