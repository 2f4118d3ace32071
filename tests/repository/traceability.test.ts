import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesIn, ROOT } from './source-files.ts';

/** Evidence that is no test file. */
const OTHERWISE = /^(?:drift check|`npm run |\|? ?\*open\*)/;
const BASES = ['', 'control-plane/src/', 'control-plane/', 'tests/', 'tests/simulation/books/'];
const testFiles = filesIn('', '.test.ts').map(({ path }) => path);

interface Row {
  requirement: string;
  evidence: string;
  /** Test files that the evidence names. */
  files: string[];
}

const rows: Row[] = readFileSync(join(ROOT, 'docs/traceability.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| requirement'))
  .map((line) => {
    const cells = line.split(' | ');
    const evidence = cells.at(-1)!.replace(/ \|$/, '').trim();
    const named = [...evidence.matchAll(/`([\w.{},*/-]+)`/g)].flatMap(([, path]) => expanded(path!));
    return { requirement: cells[0]!.slice(2), evidence, files: named.flatMap(testsAt) };
  });

/** Test files behind a path as the document writes it, a folder, or the bare name of a file. */
function testsAt(named: string): string[] {
  const path = named.replace(/^itest\//, 'tests/integration/').replace(/^e2e\//, 'tests/e2e/');
  const bare = testFiles.filter((file) => file.endsWith(`/${path}`) || file.endsWith(`/${path}.test.ts`));
  const found = BASES.flatMap((base) =>
    ['', '.test.ts', '.deep.test.ts', '/**/*.test.ts'].flatMap((ending) =>
      globSync(`${base}${path}${ending}`, { cwd: ROOT }),
    ),
  );
  return [...bare, ...found].filter((file) => file.endsWith('.test.ts'));
}

/** `a/{b,c}` is two paths. */
function expanded(path: string): string[] {
  const [group, inside] = /\{([^{}]*)\}/.exec(path) ?? [];
  if (group === undefined) return [path];
  return inside!.split(',').flatMap((word) => expanded(path.replace(group, word)));
}

describe('docs/traceability.md', () => {
  it('names a test for each requirement that is met', () => {
    expect(rows.length).toBeGreaterThan(150);
    const without = rows.filter(
      ({ evidence, files }) =>
        files.length === 0 && !evidence.split(/, |; /).some((one) => OTHERWISE.test(one)),
    );
    expect(without.map(({ requirement, evidence }) => `${requirement}: ${evidence}`)).toEqual([]);
  });

  it('names tests that exist: a quoted title stands in a file of its row', () => {
    const titles = rows.flatMap(({ evidence, files }) =>
      [...evidence.matchAll(/"([^"]+)"/g)].map(([, title]) => ({ title: title!, files })),
    );
    expect(titles.length).toBeGreaterThan(5);
    const missing = titles.filter(
      ({ title, files }) => !files.some((file) => readFileSync(join(ROOT, file), 'utf8').includes(title)),
    );
    expect(missing).toEqual([]);
  });
});
