import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';

export interface BudgetSpend {
  id: string;
  organizationId: string;
  scopeType: 'tenant' | 'project' | 'team' | 'user';
  scopeId: string;
  currency: string;
  monthlyMicros: bigint;
  thresholds: number[];
  atCap: 'notify' | 'refuse' | 'release';
  createdAt: Date;
  updatedAt: Date;
  spentMicros: bigint;
}

/** Budgets with their spending of this month. */
export async function readBudgets(
  tx: Tx,
  now: Date,
  which: {
    organizationId?: string;
    budgetId?: string;
    applyingTo?: { projectId: string; userId: string | null };
  },
  page: { after?: string; limit: number },
): Promise<BudgetSpend[]> {
  const { organizationId = null, budgetId = null, applyingTo } = which;
  const launch = applyingTo
    ? sql`case b.scope_type when 'tenant' then true when 'project' then b.scope_id = ${applyingTo.projectId}
        when 'user' then b.scope_id = ${applyingTo.userId}::uuid
        else exists (select from team_members t where t.team_id = b.scope_id and t.user_id = ${applyingTo.userId}::uuid) end`
    : sql`true`;
  const { rows } = await sql<BudgetSpend>`
    select b.id, b.organization_id as "organizationId", b.scope_type as "scopeType", b.scope_id as "scopeId", b.currency,
      b.monthly_micros as "monthlyMicros", b.thresholds, b.at_cap as "atCap", b.created_at as "createdAt",
      b.updated_at as "updatedAt", budget_spent(b, ${now}) as "spentMicros"
    from budgets b
    where (${organizationId}::uuid is null or b.organization_id = ${organizationId})
      and (${budgetId}::uuid is null or b.id = ${budgetId})
      and (${page.after ?? null}::uuid is null or b.id > ${page.after ?? null}) and ${launch}
    order by b.id limit ${page.limit}`.execute(tx);
  return rows;
}

/** Thresholds that the spending has reached, and the cap itself if it has an action. */
export function reachedThresholds({ spentMicros, monthlyMicros, thresholds, atCap }: BudgetSpend): number[] {
  const all = new Set(atCap === 'notify' ? thresholds : [...thresholds, 100]);
  return [...all]
    .filter((percent) => spentMicros * 100n >= monthlyMicros * BigInt(percent))
    .toSorted((a, b) => a - b);
}

export function isExhausted({
  spentMicros,
  monthlyMicros,
}: Pick<BudgetSpend, 'spentMicros' | 'monthlyMicros'>): boolean {
  return spentMicros >= monthlyMicros;
}
