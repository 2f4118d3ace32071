import type { Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';
import { moneyJson, type Money } from '../../platform/money.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { Services } from '../../platform/services.ts';
import { atZero } from './at-zero.ts';
import { requireBudgets } from './budgets/require-budgets.ts';
import { costAt, covers, holdOnTheirWay, type LaunchFunds } from './launches-on-their-way.ts';
import { availableMicros, readFunds, type TenantFunds } from './tenant-funds.ts';

/**
 * Refuses a launch that a budget forbids, or that the tenant's money does not cover for as long as the policy asks, with
 * those that are on their way. Nobody else decides about the tenant's money until the transaction ends.
 */
export async function requireFunds(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  launch: { organizationId: string; projectId: string; userId: string | null; perHour: Money },
): Promise<LaunchFunds> {
  const { organizationId, perHour } = launch;
  await requireBudgets({ clock }, tx, { ...launch, currency: perHour.currency });
  const onTheirWay = await holdOnTheirWay(tx, [organizationId]);
  const others = onTheirWay.get(`${organizationId} ${perHour.currency}`) ?? 0n;
  return refuseUncovered(policies, launch, await readFunds(tx, clock.now(), organizationId), others);
}

/** The same for a tenant whose money was read before; who decides for many then asks `checkFunds`. */
export function refuseUncovered(
  policies: Policies,
  { organizationId, perHour }: { organizationId: string; perHour: Money },
  tenant: readonly TenantFunds[],
  onTheirWayMicros = 0n,
): LaunchFunds {
  const { currency } = perHour;
  const own = tenant.find((funds) => funds.currency === currency);
  const credit = policies.get('billing.credit_line_micros', { organizationId });
  const funds = {
    organizationId,
    perHour,
    seconds: perHour.micros === 0n ? 0 : policies.get('billing.minimum_launch_seconds', { organizationId }),
    availableMicros: own ? availableMicros(own, credit) : BigInt(credit),
  };
  if (funds.seconds === 0 || covers(funds, onTheirWayMicros + perHour.micros)) return funds;
  const money = (micros: bigint) => moneyJson({ currency, micros });
  throw new Problem('balance_too_low', `The balance must cover ${funds.seconds} s of the lease.`, {
    extensions: {
      required: money(costAt(funds, perHour.micros)),
      available: money(funds.availableMicros),
      kept_for_launches_on_their_way: money(costAt(funds, onTheirWayMicros)),
      at_zero: atZero(policies, organizationId),
    },
  });
}
