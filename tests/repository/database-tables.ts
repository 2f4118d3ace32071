import { filesIn } from './source-files.ts';

const schema = filesIn('control-plane', 'schema.sql')[0]!.text;

/** Columns of each table of the database, as the schema dump writes them. */
export const tables: ReadonlyMap<string, string> = new Map(
  [...schema.matchAll(/^create table (\S+) \(\n([\s\S]*?)^\)/gm)].map(([, name, columns]) => [
    name!,
    columns!,
  ]),
);

const CASCADE =
  /alter table (?:only )?(\w+)\s[^;]*?foreign key[^;]*?references (\w+)[^;]*?on delete cascade/gi;

/** Pairs of a table and the table whose deleted rows take its rows with them. */
export const cascades: readonly { table: string; parent: string }[] = [...schema.matchAll(CASCADE)].map(
  ([, table, parent]) => ({ table: table!, parent: parent! }),
);

/** Sources of the control plane, without tests and generated files. */
export const controlPlaneSources = [
  ...filesIn('control-plane/src', '.ts'),
  ...filesIn('control-plane/functions', '.sql'),
].filter(({ path }) => !/\.test\.|\/testing|\/generated\//.test(path));
