import type { Db } from '../../platform/db/database.ts';

export interface KnownOutage {
  served: boolean;
  beganAt: Date;
  endedAt: Date | null;
}

/** When leases were not seen to be served, by allocation. */
export async function outagesOf(
  db: Db,
  allocationIds: readonly string[],
): Promise<Map<string, KnownOutage[]>> {
  const found = new Map<string, KnownOutage[]>();
  if (allocationIds.length === 0) return found;
  const rows = await db
    .selectFrom('allocation_outages')
    .select(['allocation_id', 'served', 'began_at', 'ended_at'])
    .where('allocation_id', 'in', [...allocationIds])
    .execute();
  for (const row of rows) {
    const known = found.get(row.allocation_id) ?? [];
    known.push({ served: row.served, beganAt: row.began_at, endedAt: row.ended_at });
    found.set(row.allocation_id, known);
  }
  return found;
}
