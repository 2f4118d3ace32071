import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { moneyJson } from '../../platform/money.ts';
import type { Services } from '../../platform/services.ts';
import { accruedSince } from './accrual.ts';
import { atZero } from './at-zero.ts';
import { readLiveMeters } from './read-open-meters.ts';
import { availableMicros, readFunds, runsOutAt } from './tenant-funds.ts';

type Spend = components['schemas']['Spend'];
type Needs = Pick<Services, 'policies' | 'clock'>;

const AT_ONCE = 500;

export async function describeSpend(
  services: Needs,
  tx: Tx,
  scope: { organizationId: string; projectId?: string | undefined },
): Promise<Spend[]> {
  const { policies, clock } = services;
  const { organizationId } = scope;
  const now = clock.now();
  const live = await liveSpend(services, tx, scope, now);
  const whole = scope.projectId ? await liveSpend(services, tx, { organizationId }, now) : live;
  const creditLine = policies.get('billing.credit_line_micros', { organizationId });
  const standings = await tx
    .selectFrom('billing_standings')
    .select(['currency', 'standing', 'stops_at'])
    .where('organization_id', '=', organizationId)
    .execute();
  return (await readFunds(tx, now, organizationId)).map((funds) => {
    const { currency } = funds;
    const money = (micros: bigint) => moneyJson({ currency, micros });
    const own = live.get(currency) ?? { rate: 0n, accrued: 0n };
    const accruedMicros = whole.get(currency)?.accrued ?? 0n;
    const available = availableMicros({ ...funds, accruedMicros }, creditLine);
    const standing = standings.find((row) => row.currency === currency);
    return {
      per_hour: money(own.rate),
      accrued: money(own.accrued),
      balance: money(funds.balanceMicros),
      credit_line: money(BigInt(creditLine)),
      available: money(available),
      runs_out_at: runsOutAt(available, funds.perHourMicros, now)?.toISOString() ?? null,
      standing: (standing?.standing ?? 'good') as Spend['standing'],
      stops_at: standing?.stops_at?.toISOString() ?? null,
      grace_seconds: policies.get('billing.grace_seconds', { organizationId }),
      at_zero: atZero(policies, organizationId),
    };
  });
}

async function liveSpend(
  { policies }: Needs,
  tx: Tx,
  scope: { organizationId: string; projectId?: string | undefined },
  now: Date,
): Promise<Map<string, { rate: bigint; accrued: bigint }>> {
  const unreachable = policies.get('fleet.unreachable_after_seconds');
  const totals = new Map<string, { rate: bigint; accrued: bigint }>();
  let after: string | undefined;
  for (;;) {
    const page = await readLiveMeters(tx, scope, { limit: AT_ONCE, ...(after ? { after } : {}) });
    for (const { meter, facts } of page) {
      const { currency, micros } = meter.perHour;
      const total = totals.get(currency) ?? { rate: 0n, accrued: 0n };
      const runs = facts.releaseRequestedAt === null;
      totals.set(currency, {
        rate: total.rate + (runs ? micros : 0n),
        accrued: total.accrued + accruedSince(meter, facts, unreachable, now).micros,
      });
    }
    if (page.length < AT_ONCE) return totals;
    after = page.at(-1)!.allocationId;
  }
}
