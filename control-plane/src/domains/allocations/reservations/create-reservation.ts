import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { sql } from 'kysely';
import { isDatabaseError, type Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import { multiplyMoney } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { lockCommitments } from '../../billing/funds/commitments.ts';
import { requireHold, requirePaidTenant } from '../../billing/funds/require-hold.ts';
import { quoteProduct } from '../../catalog/quote.ts';
import type { WithFleetIndex } from '../../fleet/index/fleet-index.ts';
import type { CapacityShape, PlacementRequest } from '../../placement/candidate.ts';
import { couldServe } from '../../placement/choose-node-to-hold.ts';
import {
  requireCooledDown,
  requireWithinFleetShare,
  requireWithinTenantLimits,
} from './reservation-limits.ts';
import { one } from '../../../platform/db/one.ts';

const FOREIGN_KEY_VIOLATION = '23503';

type CreateReservation = components['schemas']['CreateReservation'];

export interface ReservationOwner {
  organizationId: string;
  createdBy: string;
  /** By agreement: without limits and held funds, until it ends or is cancelled. */
  byOperator: boolean;
}

/** Reserves nodes that nobody else holds in the period: free nodes first, then those that come free soonest. */
export async function createReservation(
  services: Services & WithFleetIndex,
  tx: Tx,
  asked: CreateReservation,
  { organizationId, createdBy, byOperator }: ReservationOwner,
): Promise<string> {
  const { policies } = services;
  const [startsAt, endsAt] = [new Date(asked.starts_at), new Date(asked.ends_at)];
  checkWindow(services, startsAt, endsAt);
  const sku = await quoteProduct(services, tx, {
    sku: asked.sku,
    gpuCount: await smallestCount(tx, asked.sku),
    region: asked.region,
    organizationId,
  });
  const turnaround = policies.get('reservations.turnaround_seconds') * 1000;
  const freeFrom = new Date(Math.max(services.clock.now().getTime(), startsAt.getTime() - turnaround));
  const request = {
    shape: await shapeOf(tx, asked.sku),
    gpus: 1,
    region: asked.region,
    gpuModel: sku.gpuModel,
    now: freeFrom.getTime(),
    endsAt: endsAt.getTime(),
  };
  const money = byOperator ? null : await requireReservable(services, tx, asked, organizationId, request);
  const taken = await withRole(tx, 'gpuaas_placement', () =>
    takeNodes(services, tx, request, asked.project_id, asked.node_count),
  );
  if (taken.length < asked.node_count) {
    const detail = `${taken.length} of ${asked.node_count} nodes can be reserved for that period.`;
    throw new Problem('reservation_unavailable', detail, { extensions: { available_nodes: taken.length } });
  }
  const gpus = taken.reduce((sum, node) => sum + node.gpus, 0);
  const perHour = multiplyMoney(sku.perGpuHour, gpus);
  if (money) requireHold(policies, organizationId, perHour, money);
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
      gpu_count: gpus,
      currency: perHour.currency,
      held_per_hour_micros: byOperator ? 0n : perHour.micros,
      lapses: !byOperator,
      starts_at: startsAt,
      ends_at: endsAt,
      reason: asked.reason,
      created_by: createdBy,
    })
    .execute()
    .catch((error: unknown) => {
      // A concurrent request closed the project.
      throw isDatabaseError(error, FOREIGN_KEY_VIOLATION) ? notFound() : error;
    });
  const promises = taken.map(({ nodeId }) => ({
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

/** Checks the tenant's limits and funds. No other decision about its funds is made until the transaction ends. */
async function requireReservable(
  services: Services & WithFleetIndex,
  tx: Tx,
  { project_id: projectId, node_count: nodes, starts_at: startsAt }: CreateReservation,
  organizationId: string,
  request: PlacementRequest & { region: string; gpuModel: string },
) {
  const commitments = await lockCommitments(tx, [organizationId]);
  const funds = await requirePaidTenant(services, tx, organizationId);
  await requireWithinTenantLimits(services, tx, { organizationId, projectId, nodes });
  await requireCooledDown(services, tx, organizationId, { ...request, startsAt });
  await requireWithinFleetShare(services, tx, request, nodes);
  return { funds, commitments };
}

function checkWindow({ clock, policies }: Services, startsAt: Date, endsAt: Date): void {
  const longest = policies.get('reservations.max_window_seconds');
  const now = clock.now().getTime();
  if (endsAt <= startsAt || endsAt.getTime() <= now) {
    throw new Problem('reservation_refused', 'The end must be after the start and not in the past.');
  }
  if (endsAt.getTime() - now > longest * 1000) {
    throw new Problem('reservation_refused', `The end must be within ${longest} s from now.`, {
      extensions: { longest_seconds: longest },
    });
  }
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
  return row.capacity_shape;
}

/** Lock each node first: launches lock their node too, so the second transaction sees the changes of the first. */
async function takeNodes(
  { fleetIndex: fleet }: WithFleetIndex,
  tx: Tx,
  request: PlacementRequest,
  projectId: string,
  count: number,
): Promise<{ nodeId: string; gpus: number }[]> {
  await fleet.catchUp(tx, [], 'now');
  const candidates = [...fleet.nodes]
    .filter((node) => couldServe({ ...request, gpus: node.layout.size }, node))
    .toSorted((a, b) => a.busyUntil - b.busyUntil || (a.nodeId < b.nodeId ? -1 : 1));
  const taken: { nodeId: string; gpus: number }[] = [];
  for (const { nodeId, layout } of candidates) {
    if (taken.length === count) break;
    await sql`savepoint candidate`.execute(tx);
    await tx.selectFrom('nodes').select('id').where('id', '=', nodeId).forUpdate().execute();
    const free = await withRole(tx, 'gpuaas_worker', () => isFree(tx, nodeId, projectId, request));
    // A launch may wait for the node while it holds the next one: a node that is not free must not stay locked.
    if (!free) await sql`rollback to savepoint candidate`.execute(tx);
    await sql`release savepoint candidate`.execute(tx);
    if (free) taken.push({ nodeId, gpus: layout.size });
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
  const row = await one(
    sql<{ taken: boolean }>`
    select exists (
      select from claim_cells e join allocation_resource_claims c on c.id = e.claim_id
        join allocations a on a.id = c.allocation_id
      where e.node_id = ${nodeId} and a.project_id <> ${projectId}
        and coalesce(c.ends_at, 'infinity') > ${from}
    ) or exists (
      select from node_promises p
      where p.node_id = ${nodeId} and p.starts_at < ${until} and coalesce(p.ends_at, 'infinity') > ${from}
    ) as taken`,
    tx,
  );
  return !row.taken;
}
