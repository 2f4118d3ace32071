import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { Db, Tx } from '../db/database.ts';
import type { AuditKey } from '../keys/platform-keys.ts';
import { chainHead, hashRow, ZERO_HASH, packLeaves } from './chain.ts';
import { checkpointOf, hashCheckpoint, lastSegment, signStatement, type SegmentRow } from './checkpoint.ts';
import { LOG_BEGINNING, monthOf, positionOf, stableRows, type AuditRow } from './rows.ts';
import { present } from '../present.ts';

/** Small enough to search a change among few rows, large enough that checkpoints cost little. */
export const SEGMENT_ROWS = 1000;

interface SealerServices {
  db: Db;
  clock: Clock;
  keys: { audit: AuditKey };
}

/**
 * Seals settled rows, one segment per transaction, while this process is the sealer. A segment is one row: it
 * exists or it does not, so a crash leaves rows unsealed and nothing incomplete. Returns the number of sealed
 * rows.
 */
export async function sealRows(
  services: SealerServices,
  stopping: () => boolean = () => false,
): Promise<number> {
  let sealed = 0;
  while (!stopping()) {
    const rows = await services.db.transaction().execute((tx) => sealSegment(services, tx));
    if (rows === 0) break;
    sealed += rows;
  }
  return sealed;
}

async function sealSegment({ clock, keys }: SealerServices, tx: Tx): Promise<number> {
  const { rows: lock } = await sql<{ held: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('audit_sealer', 0)) as held`.execute(tx);
  if (!lock[0]?.held) return 0;
  // The order is that of an index; without statistics the planner would rather sort all that is left, every time.
  await sql`set local enable_sort = off`.execute(tx);
  const last = await lastSegment(tx);
  const after = last ? { xid: last.upto_xid, id: last.upto_id } : LOG_BEGINNING;
  const rows = ofOneMonth(await stableRows(tx, after, SEGMENT_ROWS));
  if (rows.length === 0) return 0;
  const leaves = rows.map((row) => ({ id: row.id, hash: hashRow(row) }));
  const previous = last ? hashCheckpoint(last) : ZERO_HASH;
  const end = positionOf(present(rows.at(-1), 'last row'));
  const segment: Omit<SegmentRow, 'signature'> = {
    segment: (last?.segment ?? 0n) + 1n,
    month: monthOf(present(rows[0], 'first row')),
    row_count: rows.length,
    upto_xid: end.xid,
    upto_id: end.id,
    leaves: packLeaves(leaves),
    previous_hash: previous,
    head_hash: chainHead(previous, leaves),
    sealed_at: clock.now(),
    key_id: keys.audit.id,
  };
  const signature = signStatement(checkpointOf(segment), keys.audit.privateKey);
  await tx
    .insertInto('audit_segments')
    .values({ ...segment, signature })
    .execute();
  return rows.length;
}

/** Retention drops months, so a segment ends where the month of its rows does. */
function ofOneMonth(rows: AuditRow[]): AuditRow[] {
  const first = rows[0];
  if (!first) return [];
  const end = rows.findIndex((row) => monthOf(row) !== monthOf(first));
  return end === -1 ? rows : rows.slice(0, end);
}
