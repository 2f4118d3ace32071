import { inBatches } from '../../../platform/db/in-batches.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { meterLease } from './meter-lease.ts';
import { lockDueMeters } from './read-open-meters.ts';
import { NIL_ID } from '../../../platform/ids.ts';
import { recordUsage } from './record-usage.ts';

/** Leases recorded in one transaction; memory and locks stay bounded for any number of leases. */
const BATCH = 500;
/** Turns observations of leases into usage records and debits. */
export const meterLeases: Tick<Services> = {
  name: 'billing.meter_leases',
  everySeconds: 15,
  catchUp: 'skip',
  run: async (services) => {
    await meterAllLeases(services);
  },
};

/** Any number may run concurrently and again: due meters are locked, so each window is recorded once. */
export async function meterAllLeases(
  services: Pick<Services, 'db' | 'clock' | 'policies'>,
): Promise<{ records: number }> {
  let records = 0;
  await inBatches<{ allocationId: string }>(BATCH, async (last) => {
    const done = await meterBatch(services, last?.allocationId ?? NIL_ID);
    records += done.records;
    return done.due;
  });
  return { records };
}

async function meterBatch(
  { db, clock, policies }: Pick<Services, 'db' | 'clock' | 'policies'>,
  after: string,
): Promise<{ records: number; due: { allocationId: string }[] }> {
  const rules = {
    windowSeconds: BigInt(policies.get('billing.usage_window_seconds')),
    unreachableSeconds: policies.get('fleet.unreachable_after_seconds'),
  };
  return await db.transaction().execute(async (tx) => {
    const due = await lockDueMeters(tx, after, BATCH, rules.windowSeconds);
    const now = clock.now();
    const batch = due.map((lease) => ({ lease, result: meterLease(lease.meter, lease.facts, rules, now) }));
    const records = batch.length > 0 ? await recordUsage(tx, batch, now) : 0;
    return { records, due };
  });
}
