import { isServerError } from '../../platform/db/database.ts';
import { ExpiringSet } from '../../platform/expiring-set.ts';
import { inScope, statementsAs } from '../../platform/db/scope.ts';
import { GroupCommit, tellLeft, type GroupLeft } from '../../platform/group-commit.ts';
import { replyFrom, type IdempotentRequest, type StoredReply } from '../../platform/http/idempotency.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { Services } from '../../platform/services.ts';
import { fleetIndexOf } from '../fleet/fleet-index-of.ts';
import { readLaunchFacts, type Ask, type LaunchFacts } from './launch-facts.ts';
import type { AllocationRow } from './move-allocation.ts';
import { prepareFrom } from './prepare-launch.ts';
import { LAUNCH_DESK, sellAtOnce } from './sell-at-once.ts';
import { sellTogether, type Order, type Outcome } from './sell-together.ts';

type Scheduler = Pick<Services, 'db' | 'policies' | 'workflows'>;
type Desk = Scheduler & Pick<Services, 'clock' | 'sealer'>;

/** A launch as it was asked for, and what is written beside it. */
export interface Wanted extends Omit<Ask, 'idempotencyKey'> {
  idempotent: IdempotentRequest | null;
  papers: Order['papers'];
}

/** `failed`: the transaction that was to decide about it was rolled back. */
export type Decision = Outcome | { failed: unknown };

/** `replay`: its key was used before, and this was the answer. */
export type Answer = Decision | { replay: StoredReply };

export const GROUPS = { desk: LAUNCH_DESK, size: 64, underWay: 2 };
/** Whoever was in the way of one group has committed or given up by the next. */
const TRIES = 3;
/** One project whose counters somebody holds must not keep everybody waiting: a group gives up, and each goes alone. */
const LOCK_TIMEOUT_MS = 250;

/** How long somebody who was refused is decided about with care. */
const REFUSED_MS = 5_000;

/** The process's launches, each with the group that leaves next. */
export function salesDesk(services: Desk): GroupCommit<Wanted, Answer> {
  return new GroupCommit((wanted) => serveGroup(services, wanted), GROUPS);
}

/** What each needs is looked up for all of them, and whoever nothing speaks against is sold to. */
async function serveGroup(services: Desk, wanted: readonly Wanted[]): Promise<Answer[]> {
  const asks = wanted.map((one) => ({ ...one, idempotencyKey: one.idempotent?.key ?? null }));
  const reading = statementsAs(services.db, 'gpuaas_placement');
  const [facts] = await Promise.all([
    readLaunchFacts(reading, asks, services.clock.now()),
    fleetIndexOf(services).catchUp(reading),
  ]);
  const decided = asks.map((ask, index) => decide(services, ask, facts[index]!));
  const orders = decided.flatMap((one) => ('order' in one ? [one.order] : []));
  const outcomes = await sellOrders(services, orders, { lockTimeoutMs: LOCK_TIMEOUT_MS });
  let next = 0;
  return decided.map((one) => ('order' in one ? outcomes[next++]! : one));
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

/** The same for orders that nothing but quota and capacity can refuse. */
export async function sellGroup(services: Scheduler, orders: readonly Order[]): Promise<Decision[]> {
  await fleetIndexOf(services).catchUp(statementsAs(services.db, 'gpuaas_placement'));
  return await sellOrders(services, orders, {});
}

const projectsRefused = new WeakMap<Policies, ExpiringSet>();

/**
 * Projects that were refused a moment ago, by process as the index of the fleet is. Who comes back at once is likely to be
 * refused again, and would take the whole group along that is sold at once with it.
 */
function refusedBy(policies: Policies): ExpiringSet {
  const known = projectsRefused.get(policies) ?? new ExpiringSet(REFUSED_MS);
  projectsRefused.set(policies, known);
  return known;
}

/** At once as far as that goes; for the rest, one transaction that decides about each. */
async function sellOrders(
  services: Scheduler,
  orders: readonly Order[],
  patience: { lockTimeoutMs?: number },
): Promise<Decision[]> {
  const refused = refusedBy(services.policies);
  const sold = await sellAtOnce(
    services,
    orders.filter(({ allocation }) => !refused.has(allocation.project_id)),
  );
  const left = orders.filter((order) => !sold.has(order));
  const outcomes =
    left.length === 0
      ? []
      : await sellWithCare(services, left, patience).catch((error: unknown): Decision[] => {
          if (sold.size === 0) throw error;
          // What was sold at once stays sold.
          return left.map(() => ({ failed: error }));
        });
  let next = 0;
  return orders.map((order) => {
    const row = sold.get(order);
    return row ? { sold: row } : outcomes[next++]!;
  });
}

/** What was sold is entered into the index of the fleet once it has committed. */
async function sellWithCare(
  services: Scheduler,
  orders: readonly Order[],
  patience: { lockTimeoutMs?: number },
): Promise<Outcome[]> {
  const { outcomes, holds, xid } = await inScope(
    services.db,
    { role: 'gpuaas_placement', ...patience },
    (tx) => sellTogether(services, tx, orders),
  );
  if (xid !== null) fleetIndexOf(services).settle(holds, xid);
  const refused = refusedBy(services.policies);
  outcomes.forEach((outcome, index) => {
    if (turnedAway(outcome)) refused.add(orders[index]!.allocation.project_id);
  });
  return outcomes;
}

/** For want of money or quota. Who finds no room is left out of a sale at once by itself. */
function turnedAway(outcome: Outcome): boolean {
  if (outcome === 'contested') return false;
  return outcome === 'unfunded' || ('refused' in outcome && outcome.refused.code !== 'sku_unavailable');
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
    const answer = await desk.submit(wanted).catch((error: unknown) => ({ failed: error }));
    if (answer === 'contested') continue;
    if (answer === 'unfunded') return decidedAlone('unfunded');
    if ('failed' in answer) {
      if (isServerError(answer.failed)) return decidedAlone('refused_by_database');
      throw answer.failed;
    }
    if ('refused' in answer) throw answer.refused;
    return answer;
  }
  return decidedAlone('contested');
}

function decidedAlone(reason: GroupLeft['reason']): null {
  tellLeft({ desk: GROUPS.desk, reason });
  return null;
}
