import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { inBatches } from '../../../platform/db/in-batches.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { moneyJson } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { accruedSince } from '../metering/accrual.ts';
import { graceSeconds, zeroBalanceNotice } from './zero-balance-notice.ts';
import { accountKey, readCommitments } from './commitments.ts';
import { costFor, keptBeside } from './covers.ts';
import { readLiveMeters } from '../metering/read-open-meters.ts';
import { availableMicros, readFunds, runsOutAt } from './tenant-funds.ts';

type Spend = components['schemas']['Spend'];
type Needs = Pick<Services, 'policies' | 'clock'>;

const BATCH = 500;

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
  const commitments = await readCommitments(tx, organizationId, now);
  const holdSeconds = policies.get('reservations.hold_seconds', { organizationId });
  return (await readFunds(tx, now, organizationId)).map((funds) => {
    const { currency } = funds;
    const money = (micros: bigint) => moneyJson({ currency, micros });
    const own = live.get(currency) ?? { rate: 0n, accrued: 0n };
    const accruedMicros = whole.get(currency)?.accrued ?? 0n;
    const available = availableMicros({ ...funds, accruedMicros }, creditLine);
    const unused = keptBeside(commitments.get(accountKey(organizationId, currency))?.kept ?? [], []);
    const standing = standings.find((row) => row.currency === currency);
    return {
      per_hour: money(own.rate),
      accrued: money(own.accrued),
      balance: money(funds.balanceMicros),
      credit_line: money(BigInt(creditLine)),
      available: money(available),
      held_for_reservations: money(costFor(unused, holdSeconds)),
      runs_out_at: runsOutAt(available, funds.perHourMicros, now)?.toISOString() ?? null,
      standing: standing?.standing ?? 'good',
      stops_at: standing?.stops_at?.toISOString() ?? null,
      grace_seconds: graceSeconds(policies, organizationId, funds.paid),
      at_zero: zeroBalanceNotice(policies, organizationId, funds.paid),
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
  await inBatches<{ allocationId: string }>(BATCH, async (last) => {
    const page = await readLiveMeters(tx, scope, {
      limit: BATCH,
      ...(last ? { after: last.allocationId } : {}),
    });
    for (const { meter, facts } of page) {
      const { currency, micros } = meter.perHour;
      const total = totals.get(currency) ?? { rate: 0n, accrued: 0n };
      const runs = facts.releaseRequestedAt === null;
      totals.set(currency, {
        rate: total.rate + (runs ? micros : 0n),
        accrued: total.accrued + accruedSince(meter, facts, unreachable, now).micros,
      });
    }
    return page;
  });
  return totals;
}
