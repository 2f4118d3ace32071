import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { moneyJson } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { isExhausted, readBudgets, type BudgetSpend } from './budget-spend.ts';

const MOST = 100;

/** Whose budgets apply, and in which currency it spends. */
export interface Spender {
  organizationId: string;
  projectId: string;
  ownerUserId: string | null;
  currency: string;
}

/** Refuses a launch if the budget of its owner, project, team or tenant is exhausted. */
export async function requireBudgetHeadroom(
  services: Pick<Services, 'clock'>,
  tx: Tx,
  launch: Spender,
): Promise<void> {
  refuseExhaustedBudgets(await budgetsOf(services, tx, launch), launch.currency);
}

/** An exhausted budget that stops its spender from starting more; null if there is none. */
export async function findExhaustedBudget(
  services: Pick<Services, 'clock'>,
  tx: Tx,
  spender: Spender,
): Promise<BudgetSpend | null> {
  return firstExhausted(await budgetsOf(services, tx, spender), spender.currency) ?? null;
}

async function budgetsOf(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  { organizationId, projectId, ownerUserId }: Spender,
): Promise<BudgetSpend[]> {
  return await readBudgets(
    tx,
    clock.now(),
    { organizationId, applyingTo: { projectId, userId: ownerUserId } },
    { limit: MOST },
  );
}

type Cap = Pick<BudgetSpend, 'id' | 'scopeType' | 'currency' | 'monthlyMicros' | 'spentMicros' | 'atCap'>;

function firstExhausted<B extends Cap>(budgets: readonly B[], currency: string): B | undefined {
  return budgets.find(
    (budget) => budget.atCap !== 'notify' && budget.currency === currency && isExhausted(budget),
  );
}

/** Refuses a launch if one of these budgets, which were read before and apply to it, is exhausted. */
export function refuseExhaustedBudgets(budgets: readonly Cap[], currency: string): void {
  const full = firstExhausted(budgets, currency);
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
