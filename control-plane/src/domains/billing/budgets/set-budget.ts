import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import { listCurrencies } from '../../catalog/list-currencies.ts';

type SetBudget = components['schemas']['SetBudget'];

/** Sets the monthly limit of a scope; a scope has one budget per currency. Returns its id. */
export async function setBudget(tx: Tx, now: Date, asked: SetBudget): Promise<string> {
  await requireScope(tx, asked);
  const known = await listCurrencies(tx);
  if (!known.includes(asked.monthly.currency)) {
    throw new Problem('currency_unknown', `The price book has no prices in ${asked.monthly.currency}.`, {
      errors: [{ pointer: '/monthly/currency', detail: `must be one of ${known.join(', ')}` }],
      extensions: { known_currencies: known },
    });
  }
  const limits = {
    monthly_micros: BigInt(asked.monthly.micros),
    thresholds: asked.thresholds.toSorted((a, b) => a - b),
    at_cap: asked.at_cap,
    updated_at: now,
  };
  const row = await tx
    .insertInto('budgets')
    .values({
      id: newId(),
      organization_id: asked.organization_id,
      scope_type: asked.scope_type,
      scope_id: asked.scope_id,
      currency: asked.monthly.currency,
      created_at: now,
      ...limits,
    })
    .onConflict((c) =>
      c.columns(['organization_id', 'scope_type', 'scope_id', 'currency']).doUpdateSet(limits),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

async function requireScope(tx: Tx, asked: SetBudget): Promise<void> {
  if (await scopeExists(tx, asked)) return;
  throw new Problem('budget_scope_unknown', `The tenant has no such ${asked.scope_type}.`, {
    errors: [{ pointer: '/scope_id', detail: `is no ${asked.scope_type} of the tenant` }],
  });
}

async function scopeExists(tx: Tx, { organization_id, scope_type, scope_id }: SetBudget): Promise<boolean> {
  if (scope_type === 'tenant') return scope_id === organization_id;
  const found = {
    project: () =>
      tx
        .selectFrom('projects')
        .select('id')
        .where('id', '=', scope_id)
        .where('organization_id', '=', organization_id)
        .where('deleted_at', 'is', null)
        .executeTakeFirst(),
    team: () =>
      tx
        .selectFrom('teams')
        .select('id')
        .where('id', '=', scope_id)
        .where('organization_id', '=', organization_id)
        .executeTakeFirst(),
    user: () =>
      tx
        .selectFrom('organization_members')
        .select('id')
        .where('user_id', '=', scope_id)
        .where('organization_id', '=', organization_id)
        .executeTakeFirst(),
  };
  return (await found[scope_type]()) !== undefined;
}
