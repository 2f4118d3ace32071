import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import { incrementsFor, counterKey, type Charge, type Counter } from './counter.ts';
import { checkCharges, type QuotaExcess, type CounterUsage } from './check-charges.ts';
import { effectiveLimit, type ConfiguredLimits } from './effective-limit.ts';

type CounterRow = Counter & ConfiguredLimits & { used: bigint };

/**
 * Quota excess of each of several launches that commit together; empty for those that are allowed. Locks
 * their counters until the transaction ends; claims change them when they are written and ended. Needs the
 * role `gpuaas_placement`.
 */
export async function checkQuotas(
  policies: Policies,
  tx: Tx,
  charges: readonly Charge[],
): Promise<QuotaExcess[][]> {
  const asks = charges.flatMap(incrementsFor);
  const counters = new Map(asks.map(({ counter }) => [counterKey(counter), counter]));
  const rows = await holdCounters(tx, [...counters.values()]);
  return checkCharges(charges, usageByCounter(policies, rows));
}

export function usageByCounter(policies: Policies, rows: readonly CounterRow[]): Map<string, CounterUsage> {
  return new Map(
    rows.map((row) => [counterKey(row), { used: row.used, ...effectiveLimit(policies, row, row) }]),
  );
}

export async function holdCounters(tx: Tx, counters: readonly Counter[]): Promise<CounterRow[]> {
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
