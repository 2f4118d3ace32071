import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesIn, type SourceFile } from './source-files.ts';

const PACKAGES = ['cli', 'console', 'contracts', 'control-plane', 'lab', 'node-agent', 'sdk'];
const EXPORTED = /^export (?:abstract |async )*(?:function\*?|const|let|class|interface|type) +(\w+)/gm;

/** Named after their subject: files of calls by page, a data table, a role. The list can only shrink. */
const OTHERWISE = [
  'console/src/api/account/own.ts',
  'console/src/api/billing/billing.ts',
  'console/src/api/catalog/catalog.ts',
  'console/src/api/fleet/fleet-facts.ts',
  'console/src/api/fleet/fleet.ts',
  'console/src/api/fleet/node-identity.ts',
  'console/src/api/organization/access.ts',
  'console/src/api/organization/settings.ts',
  'console/src/api/types.ts',
  'control-plane/src/domains/tasks/kinds.ts',
  'control-plane/src/platform/db/testing/catalog.ts',
  'control-plane/src/platform/db/testing/reviewed-access.ts',
  'control-plane/src/roles/migrate.ts',
];

describe('the name of a source file', () => {
  it('shares a word with something that the file exports', () => {
    const sources = PACKAGES.flatMap((folder) => filesIn(folder, '.ts', '.tsx')).filter(
      ({ path }) => !/\/generated\/|\.test\.|\/testing\.ts$/.test(path),
    );
    expect(
      sources
        .filter(exportsSomethingElse)
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual(OTHERWISE);
  });
});

function exportsSomethingElse({ path, text }: SourceFile): boolean {
  const exported = [...text.matchAll(EXPORTED)].flatMap(([, name]) => wordsOf(name!));
  if (exported.length === 0) return false;
  const named = wordsOf(basename(path).replace(/\.tsx?$/, ''));
  return !named.some((word) => exported.some((other) => word.startsWith(other) || other.startsWith(word)));
}

/** `emit-balance-events` and `emitBalanceEvent` have the same words: without number and tense. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1 && !NO_NOUNS.has(word))
    .map((word) => word.replace(/(?:ies|y|ing|ed|es|s|e)$/, ''))
    .filter((word) => word !== '');
}

const NO_NOUNS = new Set(['is', 'of', 'to', 'in', 'at', 'on', 'for', 'the', 'with', 'by', 'no', 'not', 'as']);
