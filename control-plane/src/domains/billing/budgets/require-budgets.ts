import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { moneyJson } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { isExhausted, readBudgets, type BudgetSpend } from './budget-spend.ts';

const MOST = 100;

/** Refuses a launch if the budget of its owner, project, team or tenant is exhausted. */
export async function requireBudgetHeadroom(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  launch: { organizationId: string; projectId: string; ownerUserId: string | null; currency: string },
): Promise<void> {
  const { organizationId, projectId, ownerUserId, currency } = launch;
  const budgets = await readBudgets(
    tx,
    clock.now(),
    { organizationId, applyingTo: { projectId, userId: ownerUserId } },
    { limit: MOST },
  );
  refuseExhaustedBudgets(budgets, currency);
}

/** Refuses a launch if one of these budgets, which were read before and apply to it, is exhausted. */
export function refuseExhaustedBudgets(
  budgets: readonly Pick<
    BudgetSpend,
    'id' | 'scopeType' | 'currency' | 'monthlyMicros' | 'spentMicros' | 'atCap'
  >[],
  currency: string,
): void {
  const full = budgets.find(
    (budget) => budget.atCap !== 'notify' && budget.currency === currency && isExhausted(budget),
  );
  if (!full) return;
  throw new Problem('budget_exceeded', `The monthly budget of the ${full.scopeType} is exhausted.`, {
    extensions: {
      budget_id: full.id,
      scope_type: full.scopeType,
      monthly: moneyJson({ currency, micros: full.monthlyMicros }),
      spent: moneyJson({ currency, micros: full.spentMicros }),
    },
  });
}
