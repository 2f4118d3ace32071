import { sql } from 'kysely';
import { inBatches } from '../../../platform/db/in-batches.ts';
import { cumulativeCost, formatMoney } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { NIL_ID } from '../../../platform/ids.ts';
import { emitAllocation, type AllocationRef } from '../../timeline/allocation-events.ts';

/** Detects idle leases by their hosts' reports, and notifies owners of those that have been idle for long. */
export const detectIdleLeases: Tick<Services> = {
  name: 'allocations.watch_idle',
  everySeconds: 60,
  catchUp: 'skip',
  run: async (services) => {
    await recordIdleLeases(services);
    await notifyOwners(services);
  },
};

/** A longer gap between samples counts as neither idle nor busy. */
const SEEN_WITHIN = sql`interval '10 minutes'`;

export async function recordIdleLeases({ db, clock, policies }: Services): Promise<void> {
  const now = clock.now();
  const reachableSince = new Date(now.getTime() - policies.get('fleet.unreachable_after_seconds') * 1000);
  await sql`
    with busiest as (
      select a.id, a.organization_id, max((g.gpu ->> 'utilisation_percent')::integer) as percent
      from allocations a
        join allocation_resource_claims c on c.allocation_id = a.id and c.released_at is null
        join nodes n on n.id = c.node_id and n.last_heartbeat_at > ${reachableSince}
        join node_resource_slots s on s.node_id = c.node_id and (c.slot_id is null or s.id = c.slot_id)
        join lateral jsonb_array_elements(n.observed -> 'gpus') as g (gpu)
          on g.gpu ->> 'pci_address' = s.gpu_pci_address and g.gpu ? 'utilisation_percent'
      where a.state = 'active' and a.release_requested_at is null
      group by 1, 2
    )
    insert into allocation_idleness as i (allocation_id, organization_id, seen_at, idle_since)
    select id, organization_id, ${now}::timestamptz,
      case when percent < ${policies.get('billing.idle_below_percent')} then ${now}::timestamptz end
    from busiest order by id
    on conflict (allocation_id) do update set
      seen_at = excluded.seen_at,
      idle_since = case when excluded.idle_since is null then null
        when excluded.seen_at - i.seen_at > ${SEEN_WITHIN} then excluded.idle_since
        else coalesce(i.idle_since, excluded.idle_since) end,
      idle_seconds = i.idle_seconds + case
        when i.idle_since is null then 0
        when excluded.seen_at - i.seen_at > ${SEEN_WITHIN} then floor(extract(epoch from i.seen_at - i.idle_since))
        when excluded.idle_since is null then floor(extract(epoch from excluded.seen_at - i.idle_since))
        else 0 end,
      noticed_at = case when excluded.idle_since is null then null else i.noticed_at end`.execute(db);
}

const BATCH = 200;

async function notifyOwners(services: Services): Promise<void> {
  await inBatches<Idle>(BATCH, (last) => notifySome(services, last?.id ?? NIL_ID));
}

interface Idle extends AllocationRef {
  idle_since: Date;
  gpu_count: number;
  currency: string;
  per_hour_micros: bigint;
}

async function notifySome({ db, clock, policies }: Services, after: string): Promise<Idle[]> {
  const now = clock.now();
  return await db.transaction().execute(async (tx) => {
    const { rows } = await sql<Idle>`
      select a.id, a.organization_id, a.project_id, a.state, a.correlation_id, a.gpu_count, a.currency,
        a.per_gpu_hour_micros * a.gpu_count as per_hour_micros, i.idle_since
      from allocation_idleness i join allocations a on a.id = i.allocation_id
      where i.idle_since is not null and i.noticed_at is null and i.allocation_id > ${after}
        and a.state = 'active' and a.release_requested_at is null
      order by i.allocation_id limit ${BATCH} for update of i skip locked`.execute(tx);
    const due = rows.filter(({ idle_since, organization_id: organizationId }) => {
      const seconds = policies.get('billing.idle_notice_seconds', { organizationId });
      return now.getTime() - idle_since.getTime() >= seconds * 1000;
    });
    for (const lease of due) {
      await emitAllocation(tx, 'allocation.idle', lease, {
        stage: 'active',
        status: 'done',
        message: idleInWords(lease, now),
      });
    }
    await sql`update allocation_idleness set noticed_at = ${now}
      where allocation_id = any (${due.map(({ id }) => id)}::uuid[])`.execute(tx);
    return rows;
  });
}

function idleInWords({ idle_since, gpu_count, currency, per_hour_micros }: Idle, now: Date): string {
  const seconds = BigInt(Math.floor((now.getTime() - idle_since.getTime()) / 1000));
  const cost = formatMoney(cumulativeCost({ currency, micros: per_hour_micros }, seconds));
  const gpus = gpu_count === 1 ? 'Its GPU has' : `Its ${gpu_count} GPUs have`;
  return `${gpus} done nothing since ${idle_since.toISOString()}, which has cost ${cost} so far`;
}
