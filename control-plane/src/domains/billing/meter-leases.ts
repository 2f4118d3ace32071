import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import { meterLease } from './meter-lease.ts';
import { lockDueMeters } from './read-open-meters.ts';
import { recordUsage } from './record-usage.ts';

/** Leases recorded in one transaction; memory and locks stay the same however many there are. */
const AT_ONCE = 500;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Turns what was observed of leases into usage records and debits. */
export const meterLeases: Tick<Services> = {
  name: 'billing.meter_leases',
  everySeconds: 15,
  catchUp: 'skip',
  run: async (services) => {
    await meterAll(services);
  },
};

/** Any number may run at the same time, and again at any time: what is recorded is locked and looked at once. */
export async function meterAll(
  services: Pick<Services, 'db' | 'clock' | 'policies'>,
): Promise<{ records: number }> {
  let records = 0;
  let after: string | null = BEFORE_ALL;
  while (after) {
    const done = await meterBatch(services, after);
    records += done.records;
    after = done.last;
  }
  return { records };
}

async function meterBatch(
  { db, clock, policies }: Pick<Services, 'db' | 'clock' | 'policies'>,
  after: string,
): Promise<{ records: number; last: string | null }> {
  const rules = {
    windowSeconds: BigInt(policies.get('billing.usage_window_seconds')),
    unreachableSeconds: policies.get('fleet.unreachable_after_seconds'),
  };
  return await db.transaction().execute(async (tx) => {
    const due = await lockDueMeters(tx, after, AT_ONCE, rules.windowSeconds);
    const now = clock.now();
    const batch = due.map((lease) => ({ lease, result: meterLease(lease.meter, lease.facts, rules, now) }));
    const records = batch.length > 0 ? await recordUsage(tx, batch, now) : 0;
    return { records, last: due.length === AT_ONCE ? due.at(-1)!.allocationId : null };
  });
}
