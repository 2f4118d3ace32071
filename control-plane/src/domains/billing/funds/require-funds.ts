import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { formatMoney, moneyJson, type Money } from '../../../platform/money.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import type { Services } from '../../../platform/services.ts';
import { zeroBalanceNotice } from './zero-balance-notice.ts';
import { requireBudgetHeadroom } from '../budgets/require-budgets.ts';
import { accountKey, askedOf, lockCommitments, type FundsCheck, type FundsShortfall } from './commitments.ts';
import { costFor, coversLaunches, keptBeside, NOTHING_COMMITTED, type Commitments } from './covers.ts';
import { availableMicros, readFunds, type TenantFunds } from './tenant-funds.ts';

export interface PricedLaunch {
  organizationId: string;
  projectId: string;
  perHour: Money;
}

/**
 * Refuses a launch that a budget forbids, or that the tenant's funds do not cover for the period of the
 * policy together with everything that runs, starts and is reserved. No other decision about the tenant's
 * funds is made until the transaction ends.
 */
export async function requireFunds(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  launch: PricedLaunch & { ownerUserId: string | null },
): Promise<FundsCheck> {
  const { organizationId, perHour } = launch;
  await requireBudgetHeadroom({ clock }, tx, { ...launch, currency: perHour.currency });
  const commitments = await lockCommitments(tx, [organizationId]);
  const bound = commitments.get(accountKey(organizationId, perHour.currency));
  return refuseUnfunded(policies, launch, await readFunds(tx, clock.now(), organizationId), bound);
}

/**
 * Refuses a launch that funds read earlier do not cover on any node; `checkBatchFunds` then checks it with its
 * batch and its node.
 */
export function refuseUnfunded(
  policies: Pick<Policies, 'get'>,
  { organizationId, projectId, perHour }: PricedLaunch,
  tenant: readonly TenantFunds[],
  bound: Commitments = NOTHING_COMMITTED,
): FundsCheck {
  const { currency } = perHour;
  const own = tenant.find((funds) => funds.currency === currency);
  const scope = { organizationId };
  const credit = policies.get('billing.credit_line_micros', scope);
  const funds: FundsCheck = {
    organizationId,
    projectId,
    perHour,
    seconds: perHour.micros === 0n ? 0 : policies.get('billing.minimum_launch_seconds', scope),
    keptSeconds: policies.get('reservations.hold_seconds', scope),
    availableMicros: own ? availableMicros(own, credit) : BigInt(credit),
    paid: own?.paid ?? false,
  };
  const asked = askedOf(funds, null);
  if (funds.seconds === 0 || coversLaunches(funds, bound, [asked])) return funds;
  throw balanceTooLow(policies, { funds, bound, before: [], asked });
}

/** `balance_too_low`: required funds, available funds, and the commitments that take the rest. */
export function balanceTooLow(
  policies: Pick<Policies, 'get'>,
  { funds, bound, before, asked }: FundsShortfall,
): Problem {
  const { seconds, keptSeconds, availableMicros: available, perHour } = funds;
  const money = (micros: bigint) => ({ currency: perHour.currency, micros });
  const required = money(costFor(perHour.micros, seconds));
  const running = money(costFor(bound.runningMicros, seconds));
  const pendingMicros = before.reduce((sum, { micros }) => sum + micros, bound.pendingMicros);
  const starting = money(costFor(pendingMicros, seconds));
  const reserved = money(costFor(keptBeside(bound.kept, [...before, asked]), keptSeconds));
  const others = money(running.micros + starting.micros + reserved.micros);
  const detail =
    `The balance must cover ${seconds} s of the lease (${formatMoney(required)}) together with ${formatMoney(others)} for ` +
    `what runs, starts and is reserved; ${formatMoney(money(available))} is available.`;
  return new Problem('balance_too_low', detail, {
    extensions: {
      required: moneyJson(required),
      available: moneyJson(money(available)),
      kept_for_running_leases: moneyJson(running),
      kept_for_launches_on_their_way: moneyJson(starting),
      kept_for_reservations: moneyJson(reserved),
      at_zero: zeroBalanceNotice(policies, funds.organizationId, funds.paid),
    },
  });
}
