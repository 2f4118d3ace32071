import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { monthStart } from '../../../platform/clock.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { projectResourceName, tenantResourceName } from '../../../platform/ids.ts';
import { moneyJson } from '../../../platform/money.ts';
import { readBudgets, type BudgetSpend } from './budget-spend.ts';

type Budget = components['schemas']['Budget'];

export async function listBudgets(
  tx: Tx,
  now: Date,
  query: { organization_id: string; limit: number; page?: string },
): Promise<Page<Budget>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await readBudgets(
    tx,
    now,
    { organizationId: query.organization_id },
    { limit: query.limit + 1, ...(after ? { after: after[0] } : {}) },
  );
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map((row) => describeBudget(row, now)), next_page: page.next_page };
}

export function describeBudget(budget: BudgetSpend, now: Date): Budget {
  const money = (micros: bigint) => moneyJson({ currency: budget.currency, micros });
  return {
    id: budget.id,
    resource_name:
      budget.scopeType === 'project'
        ? projectResourceName(budget.organizationId, budget.scopeId, 'budget', budget.id)
        : tenantResourceName(budget.organizationId, 'budget', budget.id),
    organization_id: budget.organizationId,
    scope_type: budget.scopeType,
    scope_id: budget.scopeId,
    monthly: money(budget.monthlyMicros),
    thresholds: budget.thresholds,
    at_cap: budget.atCap,
    month: monthStart(now).toISOString().slice(0, 7),
    spent: money(budget.spentMicros),
    created_at: budget.createdAt.toISOString(),
    updated_at: budget.updatedAt.toISOString(),
  };
}
