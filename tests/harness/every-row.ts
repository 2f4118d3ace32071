import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { sql } from 'kysely';

/** Every row of every table of ours and of the workflow engine, as text by table. */
export async function everyRow(db: Db): Promise<Record<string, string>> {
  const { rows } = await sql<{ schema: string; name: string }>`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_schema in ('public', 'dbos') and table_type = 'BASE TABLE'`.execute(db);
  const text: Record<string, string> = {};
  for (const { schema, name } of rows) {
    const table = sql.id(schema, name);
    const { rows: found } = await sql<{ row: string }>`select t::text as row from ${table} t`.execute(db);
    text[`${schema}.${name}`] = found.map(({ row }) => row).join('\n');
  }
  return text;
}
