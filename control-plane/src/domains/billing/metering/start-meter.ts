import type { Tx } from '../../../platform/db/database.ts';

export interface MeteredLease {
  id: string;
  organization_id: string;
  project_id: string;
  sku: string;
  region: string;
  gpu_count: number;
  currency: string;
  per_gpu_hour_micros: bigint;
  active_at: Date | null;
}

/** Starts the meter in the transaction that makes a lease active. A second start changes nothing. */
export async function startMeter(tx: Tx, lease: MeteredLease): Promise<void> {
  if (!lease.active_at) throw new Error(`lease ${lease.id} is not active yet`);
  await tx
    .insertInto('allocation_meters')
    .values({
      allocation_id: lease.id,
      organization_id: lease.organization_id,
      project_id: lease.project_id,
      sku: lease.sku,
      region: lease.region,
      gpu_count: lease.gpu_count,
      currency: lease.currency,
      per_hour_micros: lease.per_gpu_hour_micros * BigInt(lease.gpu_count),
      started_at: lease.active_at,
    })
    .onConflict((c) => c.column('allocation_id').doNothing())
    .execute();
}
