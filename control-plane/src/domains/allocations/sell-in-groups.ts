import { isServerError } from '../../platform/db/database.ts';
import { inScope } from '../../platform/db/scope.ts';
import { GroupCommit, tellLeft } from '../../platform/group-commit.ts';
import { replyFrom, type IdempotentRequest, type StoredReply } from '../../platform/http/idempotency.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import { fleetIndexOf } from '../fleet/fleet-index-of.ts';
import { readLaunchFacts, type Ask, type LaunchFacts } from './launch-facts.ts';
import type { AllocationRow } from './move-allocation.ts';
import { prepareFrom } from './prepare-launch.ts';
import { sellTogether, type Group, type Order, type Outcome } from './sell-together.ts';

type Scheduler = Pick<Services, 'db' | 'policies' | 'workflows'>;
type Desk = Scheduler & Pick<Services, 'clock' | 'sealer'>;

/** A launch as it was asked for, and what is written beside it. */
export interface Wanted extends Omit<Ask, 'idempotencyKey'> {
  idempotent: IdempotentRequest | null;
  papers: Order['papers'];
}

/** `replay`: its key was used before, and this was the answer. */
export type Answer = Outcome | { replay: StoredReply };

export const GROUPS = { desk: 'launches', size: 64, underWay: 2 };
/** Whoever was in the way of one group has committed or given up by the next. */
const TRIES = 3;
/** One project whose counters somebody holds must not keep everybody waiting: a group gives up, and each goes alone. */
const LOCK_TIMEOUT_MS = 250;

/** The process's launches, each with the group that leaves next. */
export function salesDesk(services: Desk): GroupCommit<Wanted, Answer> {
  return new GroupCommit((wanted) => serveGroup(services, wanted), GROUPS);
}

/** One transaction for all of them: what each needs is looked up, and whoever nothing speaks against is sold to. */
async function serveGroup(services: Desk, wanted: readonly Wanted[]): Promise<Answer[]> {
  return await settled(services, { lockTimeoutMs: LOCK_TIMEOUT_MS }, async (sell, tx) => {
    const asks = wanted.map((one) => ({ ...one, idempotencyKey: one.idempotent?.key ?? null }));
    const facts = await readLaunchFacts(tx, asks, services.clock.now());
    const decided = asks.map((ask, index) => decide(services, ask, facts[index]!));
    const outcomes = await sell(decided.flatMap((one) => ('order' in one ? [one.order] : [])));
    let next = 0;
    return decided.map((one) => ('order' in one ? outcomes[next++]! : one));
  });
}

function decide(
  services: Desk,
  ask: Ask & Wanted,
  facts: LaunchFacts,
): { order: Order } | { refused: Problem } | { replay: StoredReply } {
  try {
    if (ask.idempotent && facts.earlier) return { replay: replyFrom(facts.earlier, ask.idempotent) };
    return { order: { ...prepareFrom(services, ask, facts), papers: ask.papers } };
  } catch (error) {
    if (error instanceof Problem) return { refused: error };
    throw error;
  }
}

/** One transaction for orders that nothing but quota and capacity can refuse. */
export async function sellGroup(services: Scheduler, orders: readonly Order[]): Promise<Outcome[]> {
  return await settled(services, {}, (sell) => sell(orders));
}

type Sell = (orders: readonly Order[]) => Promise<Outcome[]>;

/** What was sold is entered into the index of the fleet once it has committed. */
async function settled<T>(
  services: Scheduler,
  patience: { lockTimeoutMs?: number },
  work: (sell: Sell, tx: Parameters<typeof sellTogether>[1]) => Promise<T>,
): Promise<T> {
  let group: Group | undefined;
  const result = await inScope(services.db, { role: 'gpuaas_placement', ...patience }, (tx) =>
    work(async (orders) => {
      if (orders.length === 0) return [];
      group = await sellTogether(services, tx, orders);
      return group.outcomes;
    }, tx),
  );
  if (group && group.xid !== null) fleetIndexOf(services).settle(group.holds, group.xid);
  return result;
}

/**
 * Sells with the next group; null if the launch must be decided alone. A group that the database has refused is rolled
 * back as a whole: whom it concerned shows when each is tried again by itself.
 */
export async function sellWithOthers(
  desk: GroupCommit<Wanted, Answer>,
  wanted: Wanted,
): Promise<{ sold: AllocationRow } | { replay: StoredReply } | null> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const answer = await desk.submit(wanted).catch((error: unknown) => {
      if (isServerError(error)) return null;
      throw error;
    });
    if (answer === null) return decidedAlone('refused_by_database');
    if (answer === 'contested') continue;
    if ('refused' in answer) throw answer.refused;
    return answer;
  }
  return decidedAlone('contested');
}

function decidedAlone(reason: 'refused_by_database' | 'contested'): null {
  tellLeft({ desk: GROUPS.desk, reason });
  return null;
}
