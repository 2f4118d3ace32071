import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import type { ReportedRecord } from './check-record.ts';
import type { AppMeter, AppPrice } from './price-usage.ts';
import { get } from '../../../platform/present.ts';

export interface AppMeters {
  /** The meter that a record counts on; undefined if it is free of charge. */
  of(record: ReportedRecord): AppMeter | undefined;
  all: AppMeter[];
}

type Priced = AppPrice & { recordId: string; organizationId: string };

/**
 * Finds the price of each record at the time of use, and locks the tenants' meters at those prices in one
 * order.
 */
export async function lockMeters(
  policies: Policies,
  tx: Tx,
  records: readonly ReportedRecord[],
): Promise<AppMeters> {
  const priced = await pricesOf(policies, tx, records);
  const wanted = JSON.stringify(
    priced.map(({ organizationId, id }) => ({ organization_id: organizationId, price_id: id })),
  );
  const keys = sql`(select distinct w.organization_id, w.price_id
    from jsonb_to_recordset(${wanted}::jsonb) as w (organization_id uuid, price_id uuid))`;
  await sql`insert into app_usage_meters (id, organization_id, price_id)
    select gen_random_uuid(), k.organization_id, k.price_id from ${keys} k order by 2, 3
    on conflict (organization_id, price_id) do nothing`.execute(tx);
  const { rows } = await sql<{
    id: string;
    organization_id: string;
    price_id: string;
    quantity: bigint;
    records: bigint;
  }>`select m.* from app_usage_meters m join ${keys} k using (organization_id, price_id)
    order by m.organization_id, m.price_id for update of m`.execute(tx);
  const prices = new Map(priced.map((price) => [price.id, price]));
  const meters = new Map(
    rows.map(({ id, organization_id, price_id, quantity, records: count }) => [
      `${organization_id} ${price_id}`,
      { id, price: get(prices, price_id, 'price'), quantity, records: count },
    ]),
  );
  const priceOf = new Map(priced.map((price) => [price.recordId, price]));
  return {
    all: [...meters.values()],
    of(record) {
      const price = priceOf.get(record.record_id);
      return price && meters.get(`${record.organization_id} ${price.id}`);
    },
  };
}

async function pricesOf(policies: Policies, tx: Tx, records: readonly ReportedRecord[]): Promise<Priced[]> {
  const asked = records.map((record) => ({
    record_id: record.record_id,
    organization_id: record.organization_id,
    app: record.app,
    dimension: record.dimension,
    currency: policies.get('prices.currency', { organizationId: record.organization_id }),
    occurred_at: record.occurred_at,
  }));
  const { rows } = await sql<Priced>`
    select r.record_id as "recordId", r.organization_id as "organizationId", p.id, p.currency,
      p.per_block_micros as "perBlockMicros", p.block
    from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as r (record_id text, organization_id uuid, app text,
        dimension text, currency text, occurred_at timestamptz)
      cross join lateral (select * from app_usage_prices p
        where p.app = r.app and p.dimension = r.dimension and p.currency = r.currency
          and p.effective_from <= r.occurred_at
        order by p.effective_from desc limit 1) p`.execute(tx);
  return rows;
}

export async function saveMeters(tx: Tx, { all }: AppMeters): Promise<void> {
  const rows = all.map(({ id, quantity, records }) => ({
    id,
    quantity: String(quantity),
    records: String(records),
  }));
  await sql`update app_usage_meters m set quantity = d.quantity, records = d.records
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as d (id uuid, quantity bigint, records bigint)
    where m.id = d.id`.execute(tx);
}
