import type { Kysely, RawBuilder } from 'kysely';
import type { DB } from './generated/schema.ts';

/** The row of a statement that always answers exactly one. Throws with the statement if it did not. */
export async function one<Row>(statement: RawBuilder<Row>, db: Kysely<DB>): Promise<Row> {
  const { rows } = await statement.execute(db);
  const [row] = rows;
  if (row === undefined || rows.length > 1)
    throw new Error(`${rows.length} rows instead of one: ${statement.compile(db).sql.trim()}`);
  return row;
}
