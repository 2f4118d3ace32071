import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/database.ts';
import type { Money } from '../../../platform/money.ts';
import {
  coversLaunches,
  NOTHING_COMMITTED,
  type AskedLaunch,
  type Commitments,
  type KeptUnused,
} from './covers.ts';

/** Funds check of a launch: the funds must cover it together with all other commitments of the tenant. */
export interface FundsCheck {
  organizationId: string;
  projectId: string;
  sku: string;
  perHour: Money;
  /** How long the funds must last; zero if the policy requires nothing. */
  seconds: number;
  /** How long the funds must also cover unused reserved capacity. */
  keptSeconds: number;
  /** Spendable funds, before commitments. */
  availableMicros: bigint;
  /** A payment was settled, or an operator granted credit. */
  paid: boolean;
}

/**
 * A launch that the funds do not cover beside the tenant's commitments and the launches before it in its
 * batch.
 */
export interface FundsShortfall {
  funds: FundsCheck;
  bound: Commitments;
  before: readonly AskedLaunch[];
}

interface CommitmentRow {
  organization_id: string;
  currency: string;
  running_micros: bigint;
  pending_micros: bigint;
  kept: StoredKept[];
}

/** JSON has no 64-bit integers. */
export type StoredKept = Omit<KeptUnused, 'perHourMicros'> & { perHourMicros: string };

export type CommitmentsByAccount = ReadonlyMap<string, Commitments>;

export const accountKey = (organizationId: string, currency: string): string =>
  `${organizationId} ${currency}`;

/** Locks and reads commitments by tenant and currency; no other transaction changes them until this one ends. */
export async function lockCommitments(
  tx: Tx,
  organizationIds: readonly string[],
): Promise<CommitmentsByAccount> {
  const { rows } = await sql<CommitmentRow>`select * from hold_funds(${organizationIds}::uuid[])`.execute(tx);
  return byAccount(rows);
}

/** Reads commitments by tenant and currency without a lock. */
export async function readCommitments(
  tx: Tx,
  organizationId: string,
  now: Date,
): Promise<CommitmentsByAccount> {
  return await readCommitmentsOfTenants(tx, [organizationId], now);
}

export async function readCommitmentsOfTenants(
  db: Db | Tx,
  organizationIds: readonly string[],
  now: Date,
): Promise<CommitmentsByAccount> {
  const { rows } = await sql<CommitmentRow>`
    select * from committed_funds(${organizationIds}::uuid[], ${now})`.execute(db);
  return byAccount(rows);
}

function byAccount(rows: readonly CommitmentRow[]): CommitmentsByAccount {
  return new Map(
    rows.map((row) => [
      accountKey(row.organization_id, row.currency),
      { runningMicros: row.running_micros, pendingMicros: row.pending_micros, kept: keptOf(row.kept) },
    ]),
  );
}

export function keptOf(stored: readonly StoredKept[]): KeptUnused[] {
  return stored.map((one) => ({ ...one, perHourMicros: BigInt(one.perHourMicros) }));
}

/**
 * Checks the launches of one batch in order; null for a launch that the funds cover together with those
 * before it.
 */
export async function checkBatchFunds(
  tx: Tx,
  launches: readonly FundsCheck[],
): Promise<(FundsShortfall | null)[]> {
  const asking = launches.filter(({ seconds }) => seconds > 0);
  if (asking.length === 0) return launches.map(() => null);
  const commitments = await lockCommitments(
    tx,
    asking.map(({ organizationId }) => organizationId),
  );
  const taken = new Map<string, AskedLaunch[]>();
  return launches.map((launch) => {
    if (launch.seconds === 0) return null;
    const account = accountKey(launch.organizationId, launch.perHour.currency);
    const bound = commitments.get(account) ?? NOTHING_COMMITTED;
    const before = taken.get(account) ?? [];
    const withIt = [...before, askedOf(launch)];
    if (!coversLaunches(launch, bound, withIt)) return { funds: launch, bound, before };
    taken.set(account, withIt);
    return null;
  });
}

export function askedOf({ projectId, sku, perHour }: FundsCheck): AskedLaunch {
  return { projectId, sku, micros: perHour.micros };
}
