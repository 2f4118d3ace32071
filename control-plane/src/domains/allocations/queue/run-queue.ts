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
 * Goes through every line and starts whoever can, in order. One at a time in the whole platform, which the order
 * needs; that nothing is sold twice does not depend on it.
 */
export async function runQueue(services: Services): Promise<number> {
  if (!(await anybodyWaits(services))) return 0;
  return await services.db.transaction().execute(async (turn) => {
    await sql`select pg_advisory_xact_lock(${TURN_LOCK})`.execute(turn);
    await expireQueued(services);
    const stuck = new Map<string, Standing>();
    let started = 0;
    for (;;) {
      const lines = await readLines(services.db);
      const fleet = await lookAtFleet(services);
      const before = started;
      for (const line of lines) started += Number(await startOne(services, line, fleet, stuck));
      if (started > before) continue;
      await settle(services, lines, fleet, stuck);
      return started;
    }
  });
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

/** Starts the first of the line that can; those before it are noted with what stands against them. */
async function startOne(
  services: Services,
  line: Line,
  fleet: readonly FleetNode[],
  stuck: Map<string, Standing>,
): Promise<boolean> {
  const now = services.clock.now();
  const full = new Map<string, Standing>();
  for (const launch of inOrder(services, line)) {
    const known = stuck.get(launch.id);
    if (known?.reason === 'quota') continue;
    const size = `${launch.gpus} for ${launch.maxDurationSeconds}`;
    const own = ownsPromise(launch, fleet);
    const standing = (own ? undefined : full.get(size)) ?? standingOf(launch, now, fleet);
    if (standing) {
      // Whoever has a promise of its own may fit where another of its size does not.
      if (!own) full.set(size, standing);
      stuck.set(launch.id, standing);
      continue;
    }
    const outcome = await startQueued(services, launch).catch((error: unknown) => {
      services.log.error({ err: error, allocation_id: launch.id }, 'a queued launch could not be started');
      return { kind: 'refused', reason: 'capacity', detail: 'It could not be started just now.' } as const;
    });
    if (outcome.kind === 'started') {
      services.log.info({ allocation_id: launch.id }, 'a queued launch started');
      return true;
    }
    if (outcome.kind === 'refused') stuck.set(launch.id, { ...outcome, expectedAt: null });
  }
  return false;
}

/** What keeps it from starting now, or null if nothing does. */
function standingOf(launch: QueuedLaunch, now: Date, fleet: readonly FleetNode[]): Standing | null {
  if (!launch.open)
    return { reason: 'closed', detail: `${launch.sku} is not on sale now.`, expectedAt: null };
  const placement = place(requestOf(launch, now), fleet, launch.allowedGpuCounts);
  if (placement.fits) return null;
  const gpus = launch.gpus === 1 ? '1 free GPU' : `${launch.gpus} free GPUs`;
  const expectedAt = placement.expectedAt === null ? null : new Date(placement.expectedAt);
  return { reason: 'capacity', detail: `No single node has ${gpus} for it.`, expectedAt };
}

function ownsPromise({ id, projectId }: QueuedLaunch, fleet: readonly FleetNode[]): boolean {
  return fleet.some(({ promises = [] }) =>
    promises.some(({ holder }) => holder === id || holder === projectId),
  );
}

/** When nobody more can start: positions for those who wait, and a node for whoever has waited long enough. */
async function settle(
  services: Services,
  lines: readonly Line[],
  fleet: readonly FleetNode[],
  stuck: ReadonlyMap<string, Standing>,
): Promise<void> {
  const now = services.clock.now();
  const protectAfterMs = services.policies.get('queue.protect_after_seconds') * 1000;
  const orders = lines.map((line) => inOrder(services, line));
  const heads = orders.flatMap((order) => {
    const head = order.find(({ id }) => stuck.get(id)?.reason === 'capacity');
    return head && isProtected(head, now.getTime(), protectAfterMs) ? [head] : [];
  });
  await keepNodes(services, heads, fleet);
  await writeStandings(services, orders, stuck);
}
