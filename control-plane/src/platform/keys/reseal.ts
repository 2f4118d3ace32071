import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Sealer } from './seal.ts';
import type { SealedColumn } from './sealed-columns.ts';
import { last } from '../present.ts';

const BATCH = 50;

export interface SealCount {
  /** Checked values. */
  seen: number;
  /** Values that are not sealed in the current form. */
  stale: number;
  /** Values that were sealed again. */
  resealed: number;
  /** Rows with a value that no key opens. */
  broken: string[];
}

export interface ResealOptions {
  /** Only counts. */
  verify?: boolean;
  onBatch?: (column: SealedColumn, count: SealCount) => void;
}

/**
 * Seals the values of a column with the newest key, in batches. Each value carries its key version, so an
 * interrupted run continues where it ended. A value that changes meanwhile keeps its new seal.
 */
export async function resealColumn(
  db: Db,
  sealer: Sealer,
  column: SealedColumn,
  { verify = false, onBatch }: ResealOptions = {},
): Promise<SealCount> {
  const count: SealCount = { seen: 0, stale: 0, resealed: 0, broken: [] };
  let after: unknown[] | null = null;
  do {
    const rows = await nextRows(db, column, after);
    for (const row of rows) await resealRow(db, sealer, column, row, { verify, count });
    if (rows.length > 0) onBatch?.(column, count);
    after = rows.length === BATCH ? keyOf(column, last(rows, 'row of the statement')) : null;
  } while (after !== null);
  return count;
}

type Row = Record<string, unknown> & { sealed_value: Buffer };

function keyOf({ by }: SealedColumn, row: Row): unknown[] {
  return by.map((name) => row[name]);
}

async function nextRows(
  db: Db,
  { table, column, by }: SealedColumn,
  after: unknown[] | null,
): Promise<Row[]> {
  const key = sql.join(by.map((name) => sql.ref(name)));
  const beyond = after === null ? sql`true` : sql`(${key}) > (${sql.join(after)})`;
  const { rows } = await sql<Row>`select ${key}, ${sql.ref(column)} as sealed_value from ${sql.table(table)}
    where ${sql.ref(column)} is not null and ${beyond} order by ${key} limit ${BATCH}`.execute(db);
  return rows;
}

async function resealRow(
  db: Db,
  sealer: Sealer,
  column: SealedColumn,
  row: Row,
  { verify, count }: { verify: boolean; count: SealCount },
): Promise<void> {
  const key = keyOf(column, row);
  const context = column.context(...key);
  const { purpose } = column;
  count.seen += 1;
  let plain: string;
  try {
    plain = sealer.open(purpose, row.sealed_value, context);
  } catch {
    count.broken.push(`${column.table}.${column.column} ${key.join(' ')}`);
    return;
  }
  if (sealer.isCurrent(purpose, row.sealed_value, context)) return;
  count.stale += 1;
  if (verify) return;
  const name = sql.ref(column.column);
  const isRow = sql.join(
    column.by.map((part, index) => sql`${sql.ref(part)} = ${key[index]}`),
    sql` and `,
  );
  const { numAffectedRows } =
    await sql`update ${sql.table(column.table)} set ${name} = ${sealer.seal(purpose, plain, context)}
    where ${isRow} and ${name} = ${row.sealed_value}`.execute(db);
  count.resealed += Number(numAffectedRows ?? 0n);
}
