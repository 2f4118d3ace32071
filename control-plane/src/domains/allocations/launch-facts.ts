import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { KeyRow } from '../../platform/http/idempotency.ts';
import type { BudgetSpend } from '../billing/budgets/budget-spend.ts';
import type { TenantFunds } from '../billing/tenant-funds.ts';
import type { Shelf } from '../catalog/quote.ts';

/** Somebody who wants to launch something. */
export interface Ask {
  caller: Caller;
  request: components['schemas']['CreateAllocation'];
  correlationId: string;
  /** Null for a request without a key. */
  idempotencyKey: string | null;
}

/** Everything that is looked up before a launch, as the database has it now. */
export interface LaunchFacts {
  /** The moment that prices and money are of. */
  at: Date;
  /** An earlier request with the same key; null if there was none. */
  earlier: KeyRow | null;
  /** Null if it is closed, or of a tenant that the caller does not belong to. */
  project: { id: string; organization_id: string } | null;
  shelf: Shelf;
  sshKeys: { id: string; public_key: string }[];
  budgets: LaunchBudget[];
  funds: TenantFunds[];
}

type LaunchBudget = Pick<
  BudgetSpend,
  'id' | 'scopeType' | 'currency' | 'monthlyMicros' | 'spentMicros' | 'atCap'
>;
/** JSON has no integers of 64 bits and no times. */
type Stored<T> = { [K in keyof T]: T[K] extends bigint ? string : T[K] extends Date ? string : T[K] };

interface FactsRow extends Partial<KeyRow> {
  project: LaunchFacts['project'];
  product: Shelf['product'];
  entitled: boolean | null;
  region_status: string | null;
  image_digest: string | null;
  prices:
    | {
        id: string;
        organizationId: string | null;
        currency: string;
        micros: string;
        effectiveFrom: string;
        effectiveUntil: string | null;
      }[]
    | null;
  ssh_keys: LaunchFacts['sshKeys'] | null;
  budgets: Stored<LaunchBudget>[] | null;
  funds: Stored<TenantFunds>[] | null;
}

/** One statement for all who ask, in their order. Needs the role `gpuaas_placement`. */
export async function readLaunchFacts(db: Db | Tx, asks: readonly Ask[], at: Date): Promise<LaunchFacts[]> {
  const asked = asks.map(({ caller, request, idempotencyKey }, place) => ({
    place,
    caller_id: caller.id,
    user_id: caller.userId,
    organizations: caller.organizationIds,
    key: idempotencyKey,
    project_id: request.project_id,
    sku: request.sku,
    region: request.region,
    image: request.image,
    ssh_key_ids: request.ssh_key_ids ?? [],
  }));
  const { rows } = await sql<FactsRow>`
    select * from launch_facts(${JSON.stringify(asked)}, ${at})`.execute(db);
  return rows.map((row) => factsOf(row, at));
}

function factsOf(row: FactsRow, at: Date): LaunchFacts {
  return {
    at,
    earlier: row.request_hash ? (row as KeyRow) : null,
    project: row.project,
    shelf: {
      product: row.product,
      entitled: row.entitled,
      regionStatus: row.region_status,
      imageDigest: row.image_digest,
      prices: (row.prices ?? []).map((price) => ({
        id: price.id,
        organizationId: price.organizationId,
        perGpuHour: { currency: price.currency, micros: BigInt(price.micros) },
        effectiveFrom: new Date(price.effectiveFrom),
        effectiveUntil: price.effectiveUntil === null ? null : new Date(price.effectiveUntil),
      })),
    },
    sshKeys: row.ssh_keys ?? [],
    budgets: (row.budgets ?? []).map((budget) => ({
      ...budget,
      monthlyMicros: BigInt(budget.monthlyMicros),
      spentMicros: BigInt(budget.spentMicros),
    })),
    funds: (row.funds ?? []).map((funds) => ({
      ...funds,
      balanceMicros: BigInt(funds.balanceMicros),
      perHourMicros: BigInt(funds.perHourMicros),
      accruedMicros: BigInt(funds.accruedMicros),
    })),
  };
}
