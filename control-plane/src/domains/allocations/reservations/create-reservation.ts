import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { sql } from 'kysely';
import { isDatabaseError, type Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { quoteProduct } from '../../catalog/quote.ts';
import { fleetIndexOf } from '../../fleet/fleet-index-of.ts';
import type { CapacityShape, PlacementRequest } from '../../placement/candidate.ts';
import { mayServe } from '../../placement/node-to-keep.ts';

const FOREIGN_KEY_VIOLATION = '23503';

type CreateReservation = components['schemas']['CreateReservation'];

export interface Reserver {
  organizationId: string;
  createdBy: string;
  /** How many nodes may be kept for the project in all; nothing for operators. */
  maxNodes: number | null;
}

/** Promises nodes that nobody else holds in the time. Free ones come first, then those that come free soonest. */
export async function createReservation(
  services: Services,
  tx: Tx,
  asked: CreateReservation,
  { organizationId, createdBy, maxNodes }: Reserver,
): Promise<string> {
  const [startsAt, endsAt] = [new Date(asked.starts_at), new Date(asked.ends_at)];
  checkWindow(services, startsAt, endsAt);
  const sku = await quoteProduct(services, tx, {
    sku: asked.sku,
    gpuCount: await smallestCount(tx, asked.sku),
    region: asked.region,
    organizationId,
  });
  if (maxNodes !== null) await checkLimit(services, tx, asked, maxNodes);
  const turnaround = services.policies.get('reservations.turnaround_seconds') * 1000;
  const freeFrom = new Date(Math.max(services.clock.now().getTime(), startsAt.getTime() - turnaround));
  const request: PlacementRequest = {
    shape: await shapeOf(tx, asked.sku),
    gpus: 1,
    region: asked.region,
    gpuModel: sku.gpuModel,
    now: freeFrom.getTime(),
    endsAt: endsAt.getTime(),
  };
  const nodeIds = await withRole(tx, 'gpuaas_placement', () =>
    takeNodes(services, tx, request, asked.project_id, asked.node_count),
  );
  if (nodeIds.length < asked.node_count) {
    const detail = `${nodeIds.length} of ${asked.node_count} nodes could be kept for that time.`;
    throw new Problem('reservation_unavailable', detail, { extensions: { available_nodes: nodeIds.length } });
  }
  const id = newId();
  await tx
    .insertInto('capacity_reservations')
    .values({
      id,
      organization_id: organizationId,
      project_id: asked.project_id,
      sku: asked.sku,
      region: asked.region,
      node_count: asked.node_count,
      starts_at: startsAt,
      ends_at: endsAt,
      reason: asked.reason,
      created_by: createdBy,
    })
    .execute()
    .catch((error: unknown) => {
      // Somebody has just closed the project.
      throw isDatabaseError(error, FOREIGN_KEY_VIOLATION) ? notFound() : error;
    });
  const promises = nodeIds.map((nodeId) => ({
    id: newId(),
    node_id: nodeId,
    holder_id: asked.project_id,
    starts_at: freeFrom,
    ends_at: endsAt,
    reservation_id: id,
  }));
  await withRole(tx, 'gpuaas_worker', () => tx.insertInto('node_promises').values(promises).execute());
  return id;
}

function checkWindow({ clock, policies }: Services, startsAt: Date, endsAt: Date): void {
  const longest = policies.get('reservations.max_window_seconds');
  const now = clock.now().getTime();
  if (endsAt <= startsAt || endsAt.getTime() <= now) {
    throw new Problem('reservation_refused', 'It must end after it starts, and not lie in the past.');
  }
  if (endsAt.getTime() - now > longest * 1000) {
    throw new Problem('reservation_refused', `It must end within ${longest} s from now.`, {
      extensions: { longest_seconds: longest },
    });
  }
}

async function checkLimit(
  services: Services,
  tx: Tx,
  asked: CreateReservation,
  limit: number,
): Promise<void> {
  // One at a time for a project, so that two do not both find room below the limit.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`reserve ${asked.project_id}`}, 0))`.execute(tx);
  const { kept } = await tx
    .selectFrom('capacity_reservations')
    .select(({ fn }) => fn.coalesce(fn.sum<string>('node_count'), sql<string>`0`).as('kept'))
    .where('project_id', '=', asked.project_id)
    .where('cancelled_at', 'is', null)
    .where('ends_at', '>', services.clock.now())
    .executeTakeFirstOrThrow();
  if (Number(kept) + asked.node_count <= limit) return;
  const detail = `The project may have ${limit} nodes kept and has ${kept}; ask an operator for more.`;
  throw new Problem('reservation_refused', detail, { extensions: { limit, kept: Number(kept) } });
}

async function smallestCount(tx: Tx, sku: string): Promise<number> {
  const row = await tx
    .selectFrom('sku_catalog')
    .select('allowed_gpu_counts')
    .where('sku', '=', sku)
    .executeTakeFirst();
  return row?.allowed_gpu_counts[0] ?? 1;
}

async function shapeOf(tx: Tx, sku: string): Promise<CapacityShape> {
  const row = await tx
    .selectFrom('sku_catalog')
    .select('capacity_shape')
    .where('sku', '=', sku)
    .executeTakeFirstOrThrow();
  return row.capacity_shape as CapacityShape;
}

/** Each is locked first: launches hold their node too, so whoever is second sees what the first has done. */
async function takeNodes(
  services: Services,
  tx: Tx,
  request: PlacementRequest,
  projectId: string,
  count: number,
): Promise<string[]> {
  const fleet = fleetIndexOf(services);
  await fleet.catchUp(tx, [], 'now');
  const candidates = [...fleet.nodes]
    .filter((node) => mayServe({ ...request, gpus: node.layout.size }, node))
    .toSorted((a, b) => a.busyUntil - b.busyUntil || (a.nodeId < b.nodeId ? -1 : 1));
  const taken: string[] = [];
  for (const { nodeId } of candidates) {
    if (taken.length === count) break;
    await tx.selectFrom('nodes').select('id').where('id', '=', nodeId).forUpdate().execute();
    const free = await withRole(tx, 'gpuaas_worker', () => isFree(tx, nodeId, projectId, request));
    if (free) taken.push(nodeId);
  }
  return taken;
}

async function isFree(
  tx: Tx,
  nodeId: string,
  projectId: string,
  request: PlacementRequest,
): Promise<boolean> {
  const [from, until] = [new Date(request.now), new Date(request.endsAt)];
  const { rows } = await sql<{ taken: boolean }>`
    select exists (
      select from claim_cells e join allocation_resource_claims c on c.id = e.claim_id
        join allocations a on a.id = c.allocation_id
      where e.node_id = ${nodeId} and a.project_id <> ${projectId}
        and coalesce(c.ends_at, 'infinity') > ${from}
    ) or exists (
      select from node_promises p
      where p.node_id = ${nodeId} and p.starts_at < ${until} and coalesce(p.ends_at, 'infinity') > ${from}
    ) as taken`.execute(tx);
  return !rows[0]!.taken;
}
