import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { moneyJson } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { isUsedUp, readBudgets, type BudgetSpend } from './budget-spend.ts';

const MOST = 100;

/** Refuses a launch of somebody whose budget, or whose project's, team's or tenant's budget, is used up. */
export async function requireBudgets(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  launch: { organizationId: string; projectId: string; userId: string | null; currency: string },
): Promise<void> {
  const { organizationId, projectId, userId, currency } = launch;
  const budgets = await readBudgets(
    tx,
    clock.now(),
    { organizationId, applyingTo: { projectId, userId } },
    { limit: MOST },
  );
  refuseUsedUp(budgets, currency);
}

/** The same of budgets that were read before and apply to the launch. */
export function refuseUsedUp(
  budgets: readonly Pick<
    BudgetSpend,
    'id' | 'scopeType' | 'currency' | 'monthlyMicros' | 'spentMicros' | 'atCap'
  >[],
  currency: string,
): void {
  const full = budgets.find(
    (budget) => budget.atCap !== 'notify' && budget.currency === currency && isUsedUp(budget),
  );
  if (!full) return;
  throw new Problem('budget_exceeded', `The ${full.scopeType}'s budget of this month is used up.`, {
    extensions: {
      budget_id: full.id,
      scope_type: full.scopeType,
      monthly: moneyJson({ currency, micros: full.monthlyMicros }),
      spent: moneyJson({ currency, micros: full.spentMicros }),
    },
  });
}
