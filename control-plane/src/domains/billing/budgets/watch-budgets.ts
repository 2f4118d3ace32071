import { inBatches } from '../../../platform/db/in-batches.ts';
import { monthStart } from '../../../platform/clock.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { emit } from '../../../platform/events/emit.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import type { ReleaseLeases } from '../funds/watch-balances.ts';
import { isExhausted, reachedThresholds, readBudgets, type BudgetSpend } from './budget-spend.ts';

const BATCH = 100;

/** Publishes reached thresholds, and releases leases that an exhausted budget must no longer pay for. */
export function watchBudgets(releaseLeases: ReleaseLeases): Tick<Services> {
  return {
    name: 'billing.watch_budgets',
    everySeconds: 30,
    catchUp: 'skip',
    run: (services) => checkAllBudgets(services, releaseLeases),
  };
}

export async function checkAllBudgets(services: Services, releaseLeases: ReleaseLeases): Promise<void> {
  const { db, clock } = services;
  await inBatches<BudgetSpend>(BATCH, async (last) => {
    const budgets = await db
      .transaction()
      .execute((tx) =>
        readBudgets(tx, clock.now(), {}, { limit: BATCH, ...(last ? { after: last.id } : {}) }),
      );
    // Most budgets have nothing to publish; only the others get a transaction.
    for (const budget of budgets.filter((one) => reachedThresholds(one).length > 0 || mustRelease(one))) {
      await db.transaction().execute(async (tx) => {
        await notifyThresholds(services, tx, budget);
        if (mustRelease(budget)) {
          await releaseLeases(services, tx, budget, 'The budget of this month is exhausted', 'budget');
        }
      });
    }
    return budgets;
  });
}

function mustRelease(budget: BudgetSpend): boolean {
  return budget.atCap === 'release' && isExhausted(budget);
}

async function notifyThresholds({ clock }: Services, tx: Tx, budget: BudgetSpend): Promise<void> {
  const reached = reachedThresholds(budget);
  if (reached.length === 0) return;
  const fresh = await tx
    .insertInto('budget_notices')
    .values(
      reached.map((percent) => ({
        budget_id: budget.id,
        month: monthStart(clock.now()),
        percent,
        spent_micros: budget.spentMicros,
        noticed_at: clock.now(),
      })),
    )
    .onConflict((c) => c.columns(['budget_id', 'month', 'percent']).doNothing())
    .returning('percent')
    .execute();
  // If several were reached since the last run, the highest stands for all.
  const percent = fresh.map((row) => row.percent).toSorted((a, b) => b - a)[0];
  if (percent === undefined) return;
  await emit(tx, {
    type: 'billing.budget_threshold_reached',
    subjectId: budget.id,
    organizationId: budget.organizationId,
    correlationId: newId(),
    payload: {
      budget_id: budget.id,
      organization_id: budget.organizationId,
      project_id: budget.scopeType === 'project' ? budget.scopeId : null,
      scope_type: budget.scopeType,
      scope_id: budget.scopeId,
      percent,
      currency: budget.currency,
      monthly_micros: Number(budget.monthlyMicros),
      spent_micros: Number(budget.spentMicros),
      at_cap: budget.atCap,
    },
  });
}
