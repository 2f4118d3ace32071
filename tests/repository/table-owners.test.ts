import { describe, expect, it } from 'vitest';
import { filesIn } from './source-files.ts';
import { reviewedWrites, tableOwners } from './table-owners.ts';

const SOURCES = 'control-plane/src/';
const BUILDER = /\.(?:insertInto|updateTable|deleteFrom|mergeInto)\(\s*'([a-z_]+)(?: as \w+)?'/g;
const RAW =
  /\b(?:insert\s+into|update|delete\s+from|truncate(?:\s+table)?)\s+(?:only\s+)?([a-z_]+)\b(?=[\s(;])/gi;

const schema = filesIn('control-plane', 'schema.sql')[0]!.text;
const tables = [...schema.matchAll(/^create table (\S+) \(/gm)].map(([, name]) => name!);

const writes = filesIn('control-plane/src', '.ts')
  .filter(
    ({ path }) => !path.includes('.test.') && !path.includes('/testing') && !path.includes('/generated/'),
  )
  .flatMap(({ path, text }) => {
    const file = path.slice(SOURCES.length);
    const named = [...text.matchAll(BUILDER), ...text.matchAll(RAW)].map(([, table]) => table!);
    return [...new Set(named)].filter((table) => tables.includes(table)).map((table) => ({ file, table }));
  });

const isOwn = ({ file, table }: { file: string; table: string }): boolean =>
  file.startsWith(`${tableOwners[table]}/`);
const isReviewed = (write: { file: string; table: string }): boolean =>
  reviewedWrites.some(({ file, table }) => file === write.file && table === write.table);

describe('table owners', () => {
  it('are known for every table', () => {
    expect(tables.filter((table) => !(table in tableOwners))).toEqual([]);
    expect(Object.keys(tableOwners).filter((table) => !tables.includes(table))).toEqual([]);
  });

  it('are the only ones who write their tables', () => {
    expect(writes.length).toBeGreaterThan(20);
    expect(writes.filter((write) => !isOwn(write) && !isReviewed(write))).toEqual([]);
  });

  it('have no reviewed exception that nothing needs', () => {
    const unneeded = reviewedWrites.filter(
      (exception) => !writes.some(({ file, table }) => file === exception.file && table === exception.table),
    );
    expect(unneeded).toEqual([]);
  });
});
