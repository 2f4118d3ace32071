import { expect, it } from 'vitest';
import { foreignReads } from './foreign-reads.ts';
import { filesIn } from './source-files.ts';
import { tableOwners } from './table-owners.ts';

const SOURCES = 'control-plane/src/';
const BUILDER = /\.(?:selectFrom|(?:inner|left|right|full)Join(?:Lateral)?)\(\s*'([a-z_]+)(?: as \w+)?'/g;
const LISTED = /\.selectFrom\(\s*\[([^\]]+)\]/g;
const RAW = /\b(?:from|join)\s+(?:only\s+)?(?:lateral\s+)?([a-z_]+)\b/g;
const TEXT = /`((?:[^`\\]|\\.)*)`/g;

/** Tables of a domain that a file outside of it reads. */
const reads = filesIn('control-plane/src', '.ts')
  .filter(({ path }) => /^control-plane\/src\/(domains|platform)\//.test(path))
  .filter(
    ({ path }) => !path.includes('.test.') && !path.includes('/testing') && !path.includes('/generated/'),
  )
  .flatMap(({ path, text }) => {
    const file = path.slice(SOURCES.length);
    const listed = [...text.matchAll(LISTED)].flatMap(([, tables]) => [...tables!.matchAll(/'([a-z_]+)/g)]);
    const raw = [...text.matchAll(TEXT)].flatMap(([, statement]) => [...statement!.matchAll(RAW)]);
    const named = [...text.matchAll(BUILDER), ...listed, ...raw].map(([, table]) => table!);
    return [...new Set(named)].filter((table) => isForeign(file, table)).map((table) => `${file} ${table}`);
  })
  .sort();

function isForeign(file: string, table: string): boolean {
  // A folder may own the writes of a table; its whole domain may read it.
  const domain = /^domains\/[^/]+/.exec(tableOwners[table] ?? '')?.[0];
  return domain !== undefined && !file.startsWith(`${domain}/`);
}

it('the platform reads no table of a domain', () => {
  expect(reads.filter((read) => read.startsWith('platform/'))).toEqual([]);
});

it('a domain reads tables of another only where it did before', () => {
  expect(reads.length).toBeGreaterThan(0);
  expect(reads.filter((read) => !foreignReads.includes(read))).toEqual([]);
});

it('the list of such reads can only shrink', () => {
  expect(foreignReads.filter((read) => !reads.includes(read))).toEqual([]);
});
