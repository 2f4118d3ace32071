import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { moneyJson, type MoneyJson } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { sumOfInstance } from '../../billing/app-usage/sum-of-instance.ts';
import { leaseShare, type UsePeriod } from '../../billing/metering/lease-share.ts';
import type { InstanceRow } from '../instances/record-event.ts';

type Cost = components['schemas']['AppInstanceCost'];

/** What an instance has cost: its share of the lease, by billing's arithmetic, and its requests. */
export async function describeCost(
  services: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  { id, allocation_id: allocationId, started_at: from, ended_at: to }: InstanceRow,
): Promise<Cost> {
  const own = from ? { id, from, to } : null;
  const all = own ? await usesDuring(tx, allocationId, own) : [];
  const share = await leaseShare(services, tx, allocationId, { own, all });
  const { costs: requests } = await sumOfInstance(tx, id);
  const lease = share ? moneyJson(share.cost) : null;
  return {
    app_instance_id: id,
    lease_share: lease,
    requests,
    totals: addUp(lease ? [lease, ...requests] : requests),
    is_accruing: share?.isAccruing ?? false,
  };
}

/** Instances that ran on the machine while this one did, and itself. */
async function usesDuring(tx: Tx, allocationId: string, own: UsePeriod): Promise<UsePeriod[]> {
  const { rows } = await sql<UsePeriod>`
    select id, started_at as "from", ended_at as "to" from app_instances
    where allocation_id = ${allocationId} and started_at < coalesce(${own.to}::timestamptz, 'infinity')
      and coalesce(ended_at, 'infinity') > ${own.from}`.execute(tx);
  return rows;
}

function addUp(amounts: readonly MoneyJson[]): MoneyJson[] {
  const sums = Map.groupBy(amounts, ({ currency }) => currency);
  return [...sums].map(([currency, ones]) => ({
    currency,
    micros: ones.reduce((sum, { micros }) => sum + micros, 0),
  }));
}
