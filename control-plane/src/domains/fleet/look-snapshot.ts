import { sql } from 'kysely';

/** The columns by which a look at the fleet tells what it saw; `lookSnapshot` reads them. */
export interface LookSnapshotRow {
  snapshot: string;
  ownXid: string | null;
  /** When it was, by the database's clock. */
  at: Date;
}

export const lookColumns = sql`pg_current_xact_id_if_assigned()::text as "ownXid", clock_timestamp() as at`;

/**
 * What a look has seen, for the next one to begin there. To Postgres a transaction always sees itself; but what it
 * writes after the look has not been seen, so it counts here among those that are still under way.
 */
export function lookSnapshot({ snapshot, ownXid: own }: Omit<LookSnapshotRow, 'at'>): string {
  if (own === null) return snapshot;
  const [xmin, xmax, underWay] = snapshot.split(':') as [string, string, string];
  if (BigInt(own) >= BigInt(xmax)) return snapshot;
  const all = [...new Set([...underWay.split(',').filter(Boolean), own])].map(BigInt);
  all.sort((a, b) => (a < b ? -1 : 1));
  const first = all[0]! < BigInt(xmin) ? all[0]! : xmin;
  return `${first}:${xmax}:${all.join(',')}`;
}

/** Whether a look that saw this has seen what the transaction, which has committed, wrote. */
export function hasSeen(snapshot: string, xid: string): boolean {
  const [, xmax, underWay] = snapshot.split(':') as [string, string, string];
  return BigInt(xid) < BigInt(xmax) && !underWay.split(',').includes(xid);
}
