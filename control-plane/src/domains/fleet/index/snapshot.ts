import { sql } from 'kysely';
import { first } from '../../../platform/present.ts';

/** Columns that describe a snapshot; `excludeOwnTransaction` reads them. */
export interface SnapshotRow {
  snapshot: string;
  ownXid: string | null;
  /** When it was, by the database's clock. */
  at: Date;
}

export const snapshotColumns = sql`pg_current_xact_id_if_assigned()::text as "ownXid", clock_timestamp() as at`;

/**
 * Transactions included in a snapshot, as the start of the next one. Postgres counts a transaction as visible
 * to itself; but its later writes are not in the snapshot, so it counts here as still running.
 */
export function excludeOwnTransaction({ snapshot, ownXid: own }: Omit<SnapshotRow, 'at'>): string {
  if (own === null) return snapshot;
  const { xmin, xmax, underWay } = parseSnapshot(snapshot);
  if (BigInt(own) >= BigInt(xmax)) return snapshot;
  const all = [...new Set([...underWay, own])].map(BigInt);
  all.sort((a, b) => (a < b ? -1 : 1));
  const oldest = first(all, 'running transaction');
  const start = oldest < BigInt(xmin) ? oldest : xmin;
  return `${start}:${xmax}:${all.join(',')}`;
}

/** Whether the snapshot includes the writes of this committed transaction. */
export function snapshotIncludes(snapshot: string, xid: string): boolean {
  const { xmax, underWay } = parseSnapshot(snapshot);
  return BigInt(xid) < BigInt(xmax) && !underWay.includes(xid);
}

/** The text of a `pg_snapshot`, such as `10:20:10,14`. */
function parseSnapshot(snapshot: string): { xmin: string; xmax: string; underWay: string[] } {
  const [, xmin, xmax, underWay] = /^(\d+):(\d+):([\d,]*)$/.exec(snapshot) ?? [];
  if (xmin === undefined || xmax === undefined || underWay === undefined)
    throw new Error(`not a snapshot: ${snapshot}`);
  return { xmin, xmax, underWay: underWay.split(',').filter(Boolean) };
}
