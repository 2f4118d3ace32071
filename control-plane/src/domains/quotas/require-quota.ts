import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import { asksOf, counterKey, type Charge, type Counter } from './counter.ts';
import { decideCharges, type Excess, type Standing } from './decide-charges.ts';
import { effectiveLimit, type SetLimits } from './effective-limit.ts';
import { quotaExceeded } from './quota-exceeded.ts';

type CounterRow = Counter & SetLimits & { used: bigint };

/**
 * Refuses a launch that a quota forbids, and holds its counters until the transaction ends; writing and ending claims
 * moves them. Needs the role `gpuaas_placement`.
 */
export async function requireQuota(policies: Policies, tx: Tx, charge: Charge): Promise<void> {
  const [exceeded] = await checkQuotas(policies, tx, [charge]);
  if (exceeded!.length > 0) throw quotaExceeded(exceeded!);
}

/** The same for several launches that commit together: what each would exceed, nothing for those that may go on. */
export async function checkQuotas(
  policies: Policies,
  tx: Tx,
  charges: readonly Charge[],
): Promise<Excess[][]> {
  const asks = charges.flatMap(asksOf);
  const counters = new Map(asks.map(({ counter }) => [counterKey(counter), counter]));
  const rows = await holdCounters(tx, [...counters.values()]);
  return decideCharges(charges, standingsOf(policies, rows));
}

export function standingsOf(policies: Policies, rows: readonly CounterRow[]): Map<string, Standing> {
  return new Map(
    rows.map((row) => [counterKey(row), { used: row.used, ...effectiveLimit(policies, row, row) }]),
  );
}

async function holdCounters(tx: Tx, counters: readonly Counter[]): Promise<CounterRow[]> {
  const held = await holdKnown(tx, counters);
  if (held.length === counters.length) return held;
  const known = new Set(held.map(counterKey));
  const missing = counters.filter((counter) => !known.has(counterKey(counter)));
  await sql`select open_quota_usage(${columnsOf(missing)})`.execute(tx);
  return [...held, ...(await holdKnown(tx, missing))];
}

async function holdKnown(tx: Tx, counters: readonly Counter[]): Promise<CounterRow[]> {
  const { rows } = await sql<CounterRow>`
    select organization_id as "organizationId", holder_type as "holderType", holder_id as "holderId", measure, unit, used,
      platform_limit as "platformLimit", tenant_limit as "tenantLimit"
    from hold_quota_usage(${columnsOf(counters)})`.execute(tx);
  return rows;
}

function columnsOf(counters: readonly Counter[]): RawBuilder<unknown> {
  const column = (name: keyof Counter): string[] => counters.map((counter) => counter[name]);
  return sql`${column('organizationId')}::uuid[], ${column('holderType')}::text[], ${column('holderId')}::uuid[],
    ${column('measure')}::text[], ${column('unit')}::text[]`;
}
