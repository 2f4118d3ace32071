import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/database.ts';
import type { KeyRow } from '../../../platform/http/idempotency.ts';
import type { BudgetSpend } from '../../billing/budgets/budget-spend.ts';
import {
  accountKey,
  keptOf,
  type CommitmentsByAccount,
  type StoredKept,
} from '../../billing/funds/commitments.ts';
import { NOTHING_COMMITTED, type Commitments } from '../../billing/funds/covers.ts';
import type { TenantFunds } from '../../billing/funds/tenant-funds.ts';
import type { CatalogSnapshot } from '../../catalog/quote.ts';
import type { LaunchRequest } from './launch.ts';

/** A launch, and the idempotency key whose earlier reply is read too; null without one. */
export type KeyedLaunch = LaunchRequest & { idempotencyKey: string | null };

/** Everything that a launch decision reads, as the database has it now. */
export interface LaunchFacts {
  /** Time of the prices and balances. */
  at: Date;
  /** An earlier request with the same key; null if there was none. */
  earlier: KeyRow | null;
  /** Null if the project is closed, or belongs to a tenant that the caller is not a member of. */
  project: { id: string; organization_id: string } | null;
  shelf: CatalogSnapshot;
  sshKeys: { id: string; public_key: string }[];
  budgets: LaunchBudget[];
  funds: LaunchFunds[];
}

/** A tenant's funds in one currency, and an upper bound of its commitments: the exact sum reads all its leases. */
export type LaunchFunds = TenantFunds & Commitments;

type LaunchBudget = Pick<
  BudgetSpend,
  'id' | 'scopeType' | 'currency' | 'monthlyMicros' | 'spentMicros' | 'atCap'
>;
/** JSON has neither 64-bit integers nor times. */
type Stored<T> = { [K in keyof T]: T[K] extends bigint ? string : T[K] extends Date ? string : T[K] };

interface FactsRow extends Partial<KeyRow> {
  project: LaunchFacts['project'];
  product: CatalogSnapshot['product'];
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
  funds: (Stored<Omit<LaunchFunds, 'kept'>> & { kept: StoredKept[] })[] | null;
}

/** Reads the facts of all launches in one statement, in their order. Needs the role `gpuaas_placement`. */
export async function readLaunchFacts(
  db: Db | Tx,
  launches: readonly KeyedLaunch[],
  at: Date,
): Promise<LaunchFacts[]> {
  const asked = launches.map(({ caller, request, idempotencyKey }, place) => ({
    place,
    caller_id: caller.id,
    user_id: caller.ownerUserId,
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

/** The same facts with what the tenant is bound to pay exactly. */
export function withCommitments(facts: LaunchFacts, commitments: CommitmentsByAccount): LaunchFacts {
  const funds = facts.funds.map((one) => ({
    ...one,
    ...(commitments.get(accountKey(one.organizationId, one.currency)) ?? NOTHING_COMMITTED),
  }));
  return { ...facts, funds };
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
      runningMicros: BigInt(funds.runningMicros),
      pendingMicros: BigInt(funds.pendingMicros),
      kept: keptOf(funds.kept),
    })),
  };
}
