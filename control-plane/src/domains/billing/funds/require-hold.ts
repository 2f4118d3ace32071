import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { formatMoney, moneyJson, type Money } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { zeroBalanceNotice } from './zero-balance-notice.ts';
import { accountKey, type CommitmentsByAccount } from './commitments.ts';
import { costFor, covers, keptBeside, NOTHING_COMMITTED } from './covers.ts';
import { availableMicros, readFunds, type TenantFunds } from './tenant-funds.ts';

/** Refuses to reserve for a tenant that never paid, if the policy requires payment. Returns its funds. */
export async function requirePaidTenant(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  organizationId: string,
): Promise<TenantFunds[]> {
  const funds = await readFunds(tx, clock.now(), organizationId);
  const paid = funds.some((one) => one.paid);
  if (paid || !policies.get('reservations.requires_payment', { organizationId })) return funds;
  const detail = 'Top up the balance first, or ask an operator: 0 payments and 0 credits are recorded.';
  throw new Problem('reservation_unpaid', detail, { extensions: { payments: 0, credits: 0 } });
}

/**
 * Refuses a reservation whose unused hours the funds do not cover beside everything else. Funds must be
 * locked.
 */
export function requireHold(
  policies: Services['policies'],
  organizationId: string,
  perHour: Money,
  { funds, commitments }: { funds: readonly TenantFunds[]; commitments: CommitmentsByAccount },
): void {
  const { currency } = perHour;
  const own = funds.find((one) => one.currency === currency);
  const credit = policies.get('billing.credit_line_micros', { organizationId });
  const available = own ? availableMicros(own, credit) : BigInt(credit);
  const bound = commitments.get(accountKey(organizationId, currency)) ?? NOTHING_COMMITTED;
  const seconds = policies.get('billing.minimum_launch_seconds', { organizationId });
  const holdSeconds = policies.get('reservations.hold_seconds', { organizationId });
  const rate = bound.runningMicros + bound.pendingMicros;
  const kept = keptBeside(bound.kept, []);
  if (covers(available, rate, seconds, kept + perHour.micros, holdSeconds)) return;
  const money = (micros: bigint) => ({ currency, micros });
  const required = money(costFor(perHour.micros, holdSeconds));
  const running = money(costFor(rate, seconds));
  const reserved = money(costFor(kept, holdSeconds));
  const others = money(running.micros + reserved.micros);
  const detail =
    `The balance must cover ${holdSeconds} s of the reservation (${formatMoney(required)}) together with ` +
    `${formatMoney(others)} for what runs, starts and is reserved; ${formatMoney(money(available))} is available.`;
  throw new Problem('balance_too_low', detail, {
    extensions: {
      required: moneyJson(required),
      available: moneyJson(money(available)),
      kept_for_running_leases: moneyJson(money(costFor(bound.runningMicros, seconds))),
      kept_for_launches_on_their_way: moneyJson(money(costFor(bound.pendingMicros, seconds))),
      kept_for_reservations: moneyJson(reserved),
      at_zero: zeroBalanceNotice(policies, organizationId, own?.paid ?? false),
    },
  });
}
