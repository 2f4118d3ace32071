import { inBatches } from '../../../platform/db/in-batches.ts';
import { recordAudit } from '../../../platform/audit/record.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { NIL_ID, newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import {
  availableMicros,
  readFunds,
  readFundsOfTenants,
  type TenantFunds,
} from '../../billing/funds/tenant-funds.ts';
import type { PaymentProvider } from '../provider.ts';
import { chargedThisMonth } from './charged-this-month.ts';
import { isTopUpDue } from './decide-top-up.ts';

const BATCH = 200;

/**
 * Starts a payment where a balance is below its tenant's threshold; the charge follows with the other
 * payments.
 */
export function topUpBalances(provider: PaymentProvider): Tick<Services> {
  return {
    name: 'payments.top_up_balances',
    everySeconds: 30,
    catchUp: 'skip',
    run: async (services) => {
      await topUpAllBalances(services, provider);
    },
  };
}

export async function topUpAllBalances(
  services: Pick<Services, 'db' | 'policies' | 'clock'>,
  provider: PaymentProvider,
): Promise<{ started: string[] }> {
  const { db } = services;
  const started: string[] = [];
  await inBatches<{ organization_id: string }>(BATCH, async (last) => {
    const rows = await db
      .selectFrom('auto_top_ups')
      .select(['organization_id', 'currency', 'threshold_micros'])
      .where('enabled', '=', true)
      .where('organization_id', '>', last?.organization_id ?? NIL_ID)
      .orderBy('organization_id')
      .limit(BATCH)
      .execute();
    for (const organization_id of await belowThreshold(services, rows)) {
      const id = await db.transaction().execute((tx) => topUp(services, tx, provider, organization_id));
      if (id) started.push(id);
    }
    return rows;
  });
  return { started };
}

/** One query for all tenants; those with enough balance are not examined further. */
async function belowThreshold(
  { db, policies, clock }: Pick<Services, 'db' | 'policies' | 'clock'>,
  rows: readonly { organization_id: string; currency: string; threshold_micros: bigint }[],
): Promise<string[]> {
  const ids = rows.map(({ organization_id }) => organization_id);
  const known = await db.transaction().execute((tx) => readFundsOfTenants(tx, clock.now(), ids));
  const funds = new Map(known.map((one) => [`${one.organizationId} ${one.currency}`, one]));
  return rows
    .filter(({ organization_id, currency, threshold_micros }) => {
      const own = funds.get(`${organization_id} ${currency}`);
      return availableOf(own, policies, organization_id) < threshold_micros;
    })
    .map(({ organization_id }) => organization_id);
}

function availableOf(
  funds: TenantFunds | undefined,
  policies: Services['policies'],
  organizationId: string,
): bigint {
  const creditLine = policies.get('billing.credit_line_micros', { organizationId });
  return funds ? availableMicros(funds, creditLine) : BigInt(creditLine);
}

/** Under the lock of the settings, so that concurrent runs never start two. */
async function topUp(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  provider: PaymentProvider,
  organizationId: string,
): Promise<string | null> {
  const settings = await tx
    .selectFrom('auto_top_ups')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .forUpdate()
    .executeTakeFirst();
  if (!settings) return null;
  const now = clock.now();
  const { currency } = settings;
  const funds = (await readFunds(tx, now, organizationId)).find((f) => f.currency === currency);
  const underWay = await tx
    .selectFrom('payments')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('purpose', '=', 'auto_top_up')
    .where('next_look_at', 'is not', null)
    .executeTakeFirst();
  const amount = smallerOf(
    settings.amount_micros,
    BigInt(policies.get('payments.maximum_micros', { organizationId })),
  );
  const due = isTopUpDue({
    enabled: settings.enabled,
    available: availableOf(funds, policies, organizationId),
    threshold: settings.threshold_micros,
    amount,
    monthlyCap: settings.monthly_cap_micros,
    chargedThisMonth: await chargedThisMonth(tx, { organizationId, currency }, now),
    underWay: underWay !== undefined,
    waitsUntil: settings.waits_until,
    now,
  });
  if (!due) return null;
  const payment = {
    id: newId(),
    organization_id: organizationId,
    provider: provider.name,
    purpose: 'auto_top_up',
    state: 'created',
    currency,
    amount_micros: amount,
    tax_basis_points: policies.get('billing.tax_basis_points', { organizationId }),
    payment_method_id: settings.payment_method_id,
    correlation_id: newId(),
    created_at: now,
    next_look_at: now,
  } as const;
  await tx.insertInto('payments').values(payment).execute();
  await recordAudit(tx, {
    actorUserId: null,
    actorRole: 'platform',
    action: 'payment.auto_top_up',
    targetType: 'payment',
    targetId: payment.id,
    result: 'succeeded',
    correlationId: payment.correlation_id,
    organizationId,
    detail: { currency, amount_micros: Number(amount) },
  });
  return payment.id;
}

function smallerOf(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
