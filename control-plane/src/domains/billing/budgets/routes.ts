import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { readBudgets } from './budget-spend.ts';
import { describeBudget, listBudgets } from './list-budgets.ts';
import { setBudget } from './set-budget.ts';
import { present } from '../../../platform/present.ts';

type BudgetOperations = Pick<operations, 'listBudgets' | 'setBudget' | 'deleteBudget'>;

export function budgetRoutes({ clock }: Services): Handlers<BudgetOperations, Caller> {
  return {
    listBudgets({ caller, query, read }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: query.organization_id });
      return read(async (tx) => ({
        status: 200,
        body: await listBudgets(tx, clock.now(), query),
      }));
    },
    setBudget({ caller, body, audit, mutate }) {
      const organizationId = body.organization_id;
      const target = { targetType: 'budget', targetId: body.scope_id };
      audit(target);
      return mutate(async (tx) => {
        authorize(caller, 'budget.manage', { kind: 'tenant', organizationId });
        const id = await setBudget(tx, clock.now(), body);
        const { scope_type, monthly, thresholds, at_cap } = body;
        audit({
          ...target,
          targetId: id,
          organizationId,
          after: { scope_type, scope_id: body.scope_id, monthly, thresholds, at_cap },
        });
        const [budget] = await readBudgets(tx, clock.now(), { budgetId: id }, { limit: 1 });
        return { status: 200, body: describeBudget(present(budget, 'budget'), clock.now()) };
      });
    },
    deleteBudget({ caller, params: { budget_id }, audit, mutate }) {
      audit({ targetType: 'budget', targetId: budget_id });
      return mutate(async (tx) => {
        const row = await tx
          .selectFrom('budgets')
          .select('organization_id')
          .where('id', '=', budget_id)
          .executeTakeFirst();
        if (!row) throw notFound();
        const organizationId = row.organization_id;
        audit({ targetType: 'budget', targetId: budget_id, organizationId });
        authorize(caller, 'budget.manage', { kind: 'tenant', organizationId });
        await tx.deleteFrom('budgets').where('id', '=', budget_id).execute();
        return { status: 204, body: undefined };
      });
    },
  };
}
