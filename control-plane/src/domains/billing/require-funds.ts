import type { Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';
import { cumulativeCost, moneyJson, type Money } from '../../platform/money.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { Services } from '../../platform/services.ts';
import { requireBudgets } from './budgets/require-budgets.ts';
import { atZero } from './at-zero.ts';
import { availableMicros, readFunds, type TenantFunds } from './tenant-funds.ts';

/** Refuses a launch that a budget forbids, or that the tenant's money does not cover for as long as the policy asks. */
export async function requireFunds(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  launch: { organizationId: string; projectId: string; userId: string | null; perHour: Money },
): Promise<void> {
  const { organizationId, perHour } = launch;
  await requireBudgets({ clock }, tx, { ...launch, currency: perHour.currency });
  refuseUncovered(policies, launch, await readFunds(tx, clock.now(), organizationId));
}

/** The same for a tenant whose money was read before. */
export function refuseUncovered(
  policies: Policies,
  { organizationId, perHour }: { organizationId: string; perHour: Money },
  tenant: readonly TenantFunds[],
): void {
  const seconds = policies.get('billing.minimum_launch_seconds', { organizationId });
  const required = cumulativeCost(perHour, BigInt(seconds));
  if (required.micros === 0n) return;
  const funds = tenant.find(({ currency }) => currency === perHour.currency);
  const credit = policies.get('billing.credit_line_micros', { organizationId });
  const available = funds ? availableMicros(funds, credit) : BigInt(credit);
  if (available >= required.micros) return;
  const { currency } = perHour;
  throw new Problem('balance_too_low', `The balance must cover ${seconds} s of the lease.`, {
    extensions: {
      required: moneyJson(required),
      available: moneyJson({ currency, micros: available }),
      at_zero: atZero(policies, organizationId),
    },
  });
}
