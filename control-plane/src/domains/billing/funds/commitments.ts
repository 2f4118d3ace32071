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
  asked: AskedLaunch;
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

/** A launch of a batch, and its node; null before it is placed. */
export interface BatchLaunch {
  funds: FundsCheck;
  nodeId: string | null;
}

/** Locks and reads the commitments that the launches of one batch are checked against. */
export async function lockBatchCommitments(
  tx: Tx,
  launches: readonly FundsCheck[],
): Promise<CommitmentsByAccount> {
  const asking = launches.filter(({ seconds }) => seconds > 0);
  if (asking.length === 0) return new Map();
  return await lockCommitments(
    tx,
    asking.map(({ organizationId }) => organizationId),
  );
}

/**
 * Checks the launches of one batch in order; null for a launch that the funds cover together with those
 * before it.
 */
export function checkBatchFunds(
  commitments: CommitmentsByAccount,
  launches: readonly BatchLaunch[],
): (FundsShortfall | null)[] {
  const taken = new Map<string, AskedLaunch[]>();
  return launches.map(({ funds, nodeId }) => {
    if (funds.seconds === 0) return null;
    const account = accountKey(funds.organizationId, funds.perHour.currency);
    const bound = commitments.get(account) ?? NOTHING_COMMITTED;
    const before = taken.get(account) ?? [];
    const asked = askedOf(funds, nodeId);
    if (!coversLaunches(funds, bound, [...before, asked])) return { funds, bound, before, asked };
    taken.set(account, [...before, asked]);
    return null;
  });
}

export function askedOf({ projectId, perHour }: FundsCheck, nodeId: string | null): AskedLaunch {
  return { projectId, nodeId, micros: perHour.micros };
}

/** A launch as the SQL function `kept_beside` reads it. */
export function storedLaunch({ projectId, nodeId, micros }: AskedLaunch): Record<string, string | null> {
  return { projectId, nodeId, micros: String(micros) };
}
