import { sql } from 'kysely';
import { inScope } from '../../../platform/db/scope.ts';
import type { Services } from '../../../platform/services.ts';
import { fleetIndexOf } from '../../fleet/fleet-index-of.ts';
import type { FleetNode } from '../../fleet/placement-candidates.ts';
import { place } from '../../placement/place.ts';
import { expireQueued } from './leave-queue.ts';
import { keepNodes } from './keep-nodes.ts';
import { isProtected, orderQueue } from './order-queue.ts';
import { readLines, requestOf, type Line, type QueuedLaunch } from './read-line.ts';
import { writeStandings, type Standing } from './standings.ts';
import { startQueued } from './start-queued.ts';

const TURN_LOCK = 4_872_021;

/**
 * Goes through every line once and starts whoever can, in order. One at a time in the whole platform, which the order
 * needs; that nothing is sold twice does not depend on it. Null when somebody else is at it: who waits for a turn must
 * not hold a connection meanwhile.
 */
export async function runQueue(services: Services): Promise<number | null> {
  if (!(await anybodyWaits(services))) return 0;
  return await services.db.transaction().execute(async (turn) => {
    const { rows } = await sql<{ held: boolean }>`
      select pg_try_advisory_xact_lock(${TURN_LOCK}) as held`.execute(turn);
    if (!rows[0]?.held) return null;
    await expireQueued(services);
    const look: Look = { fleet: await lookAtFleet(services), stuck: new Map(), started: new Set() };
    const orders = (await readLines(services)).map((line) => inOrder(services, line));
    for (const order of orders) await startInOrder(services, order, look);
    await settle(
      services,
      orders.map((order) => order.filter(({ id }) => !look.started.has(id))),
      look,
    );
    return look.started.size;
  });
}

/** What one turn has seen and done so far. */
interface Look {
  fleet: readonly FleetNode[];
  /** What stands against those who could not start. */
  stuck: Map<string, Standing>;
  started: Set<string>;
}

async function anybodyWaits({ db }: Services): Promise<boolean> {
  return (
    (await db.selectFrom('queued_launches').select('allocation_id').limit(1).executeTakeFirst()) !== undefined
  );
}

async function lookAtFleet(services: Services): Promise<FleetNode[]> {
  const index = fleetIndexOf(services);
  await inScope(services.db, { role: 'gpuaas_placement' }, (tx) => index.catchUp(tx, [], 'now'));
  return [...index.nodes];
}

function inOrder(services: Services, line: Line): QueuedLaunch[] {
  return orderQueue(line.launches, line.held, {
    now: services.clock.now().getTime(),
    protectAfterMs: services.policies.get('queue.protect_after_seconds') * 1000,
  });
}

/** Starts everybody of the line who can. A start only takes room, so what did not fit before it does not after it. */
async function startInOrder(services: Services, order: readonly QueuedLaunch[], look: Look): Promise<void> {
  const now = services.clock.now();
  const holders = promiseHolders(look.fleet);
  const full = new Map<string, Standing>();
  for (const launch of order) {
    const size = `${launch.sku} ${launch.gpus} for ${launch.maxDurationSeconds}`;
    // Whoever has a promise of its own may fit where another of its size does not.
    const own = holders.has(launch.id) || holders.has(launch.projectId);
    const known = own || launch.closed !== null ? undefined : full.get(size);
    const standing = known ?? standingOf(launch, now, look.fleet);
    if (standing) {
      // What is closed to one tenant may be open to the next.
      if (!own && standing.reason === 'capacity') full.set(size, standing);
      look.stuck.set(launch.id, standing);
      continue;
    }
    const outcome = await startQueued(services, launch).catch((error: unknown) => {
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

/** What keeps it from starting now, or null if nothing does. */
function standingOf(launch: QueuedLaunch, now: Date, fleet: readonly FleetNode[]): Standing | null {
  if (launch.closed !== null) return { reason: 'closed', detail: launch.closed, expectedAt: null };
  const placement = place(requestOf(launch, now), fleet, launch.allowedGpuCounts);
  if (placement.fits) return null;
  const gpus = launch.gpus === 1 ? '1 free GPU' : `${launch.gpus} free GPUs`;
  const expectedAt = placement.expectedAt === null ? null : new Date(placement.expectedAt);
  return { reason: 'capacity', detail: `No single node has ${gpus} for it.`, expectedAt };
}

function promiseHolders(fleet: readonly FleetNode[]): Set<string> {
  return new Set(fleet.flatMap(({ promises = [] }) => promises.map(({ holder }) => holder)));
}

/** When nobody more can start: positions for those who wait, and nodes for those who have waited long enough. */
async function settle(
  services: Services,
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
  await keepNodes(services, waitedLong, fleet);
  await writeStandings(services, orders, stuck);
}
