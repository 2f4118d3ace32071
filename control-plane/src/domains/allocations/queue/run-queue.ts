import { sql } from 'kysely';
import { inScope } from '../../../platform/db/scope.ts';
import type { FleetNode } from '../../fleet/index/placement-candidates.ts';
import { place } from '../../placement/place.ts';
import type { LaunchServices } from '../launch/launch.ts';
import { expireQueued } from './leave-queue.ts';
import { holdNodesForQueue } from './hold-nodes-for-queue.ts';
import { isProtected, orderQueue } from './order-queue.ts';
import {
  loadLaunchQueues,
  queuedPlacementRequest,
  type LaunchQueue,
  type QueuedLaunch,
} from './load-launch-queues.ts';
import { updateQueueStatus, type QueueStatus } from './queue-status.ts';
import { startQueuedLaunch } from './start-queued.ts';

const TURN_LOCK = 4_872_021;

/**
 * Goes through every queue once and starts the launches that fit, in order. The order needs one run at a time in the
 * whole platform; that no slot is leased twice does not depend on it. Null while another run holds the lock: a waiting run
 * must not hold a connection.
 */
export async function runQueue(services: LaunchServices): Promise<number | null> {
  if (!(await anybodyWaits(services))) return 0;
  return await services.db.transaction().execute(async (turn) => {
    const { rows } = await sql<{ held: boolean }>`
      select pg_try_advisory_xact_lock(${TURN_LOCK}) as held`.execute(turn);
    if (!rows[0]?.held) return null;
    await expireQueued(services);
    const look: Look = { fleet: await lookAtFleet(services), stuck: new Map(), started: new Set() };
    const orders = (await loadLaunchQueues(services)).map((line) => inOrder(services, line));
    for (const order of orders) await startInOrder(services, order, look);
    await settle(
      services,
      orders.map((order) => order.filter(({ id }) => !look.started.has(id))),
      look,
    );
    return look.started.size;
  });
}

/** Facts and results of one run so far. */
interface Look {
  fleet: readonly FleetNode[];
  /** Reasons of the launches that could not start. */
  stuck: Map<string, QueueStatus>;
  started: Set<string>;
}

async function anybodyWaits({ db }: LaunchServices): Promise<boolean> {
  return (
    (await db.selectFrom('queued_launches').select('allocation_id').limit(1).executeTakeFirst()) !== undefined
  );
}

async function lookAtFleet({ db, fleetIndex }: LaunchServices): Promise<FleetNode[]> {
  await inScope(db, { role: 'gpuaas_placement' }, (tx) => fleetIndex.catchUp(tx, [], 'now'));
  return [...fleetIndex.nodes];
}

function inOrder(services: LaunchServices, line: LaunchQueue): QueuedLaunch[] {
  return orderQueue(line.launches, line.held, {
    now: services.clock.now().getTime(),
    protectAfterMs: services.policies.get('queue.protect_after_seconds') * 1000,
  });
}

/**
 * Starts the launches of one queue that fit. A start only takes capacity, so a launch that did not fit before
 * it does not fit after it.
 */
async function startInOrder(
  services: LaunchServices,
  order: readonly QueuedLaunch[],
  look: Look,
): Promise<void> {
  const now = services.clock.now();
  const holders = promiseHolders(look.fleet);
  const full = new Map<string, QueueStatus>();
  for (const launch of order) {
    const size = `${launch.sku} ${launch.gpus} for ${launch.maxDurationSeconds}`;
    // A launch with a held node may fit where another of its size does not.
    const own = holders.has(launch.id) || holders.has(launch.projectId);
    const known = own || launch.closed !== null ? undefined : full.get(size);
    const standing = known ?? standingOf(launch, now, look.fleet);
    if (standing) {
      // Another tenant may be allowed what this one is not.
      if (!own && standing.reason === 'capacity') full.set(size, standing);
      look.stuck.set(launch.id, standing);
      continue;
    }
    const outcome = await startQueuedLaunch(services, launch).catch((error: unknown) => {
      services.log.error({ err: error, allocation_id: launch.id }, 'a queued launch could not be started');
      return { kind: 'refused', reason: 'capacity', detail: 'It could not be started just now.' } as const;
    });
    if (outcome.kind === 'refused') {
      look.stuck.set(launch.id, { ...outcome, expectedAt: null });
      continue;
    }
    if (outcome.kind === 'gone') continue;
    services.log.info({ allocation_id: launch.id }, 'a queued launch started');
    look.started.add(launch.id);
    look.fleet = await lookAtFleet(services);
  }
}

/** Reason why it cannot start now; null if it can. */
function standingOf(launch: QueuedLaunch, now: Date, fleet: readonly FleetNode[]): QueueStatus | null {
  if (launch.closed !== null) return { reason: 'closed', detail: launch.closed, expectedAt: null };
  const placement = place(queuedPlacementRequest(launch, now), fleet, launch.allowedGpuCounts);
  if (placement.fits) return null;
  const gpus = launch.gpus === 1 ? '1 free GPU' : `${launch.gpus} free GPUs`;
  const expectedAt = placement.expectedAt === null ? null : new Date(placement.expectedAt);
  return { reason: 'capacity', detail: `No single node has ${gpus} for it.`, expectedAt };
}

function promiseHolders(fleet: readonly FleetNode[]): Set<string> {
  return new Set(fleet.flatMap(({ promises = [] }) => promises.map(({ holder }) => holder)));
}

/** After the last start: sets queue positions, and holds nodes for launches that have waited long enough. */
async function settle(
  services: LaunchServices,
  orders: readonly QueuedLaunch[][],
  { fleet, stuck }: Look,
): Promise<void> {
  const now = services.clock.now();
  const protectAfterMs = services.policies.get('queue.protect_after_seconds') * 1000;
  const waitedLong = orders.map((order) =>
    order.filter(
      (launch) =>
        stuck.get(launch.id)?.reason === 'capacity' && isProtected(launch, now.getTime(), protectAfterMs),
    ),
  );
  await holdNodesForQueue(services, waitedLong, fleet);
  await updateQueueStatus(services, orders, stuck);
}
