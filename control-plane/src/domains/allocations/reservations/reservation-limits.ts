import { sql } from 'kysely';
import { first } from '../../../platform/present.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import type { WithFleetIndex } from '../../fleet/index/fleet-index.ts';
import type { PlacementRequest } from '../../placement/candidate.ts';
import { isOfFleetFor } from '../../placement/choose-node-to-hold.ts';
import { one } from '../../../platform/db/one.ts';

interface Asked {
  organizationId: string;
  projectId: string;
  nodes: number;
}

/** How many nodes a project and a tenant may reserve. Decisions about one tenant must be serial. */
export async function requireWithinTenantLimits(
  { policies, clock }: Services,
  tx: Tx,
  { organizationId, projectId, nodes }: Asked,
): Promise<void> {
  const live = await tx
    .selectFrom('capacity_reservations')
    .select(['project_id', 'node_count'])
    .where('organization_id', '=', organizationId)
    .where('cancelled_at', 'is', null)
    .where('ends_at', '>', clock.now())
    .execute();
  const count = (rows: typeof live): number => rows.reduce((sum, { node_count }) => sum + node_count, 0);
  const ofProject = count(live.filter(({ project_id }) => project_id === projectId));
  const perProject = policies.get('reservations.max_nodes_per_project', { organizationId, projectId });
  if (ofProject + nodes > perProject) throw overLimit('The project', perProject, ofProject, nodes);
  const ofTenant = count(live);
  const perTenant = policies.get('reservations.max_nodes_per_tenant', { organizationId });
  if (ofTenant + nodes > perTenant) throw overLimit('The organization', perTenant, ofTenant, nodes);
}

interface Kind extends Pick<PlacementRequest, 'shape'> {
  region: string;
  gpuModel: string;
  startsAt: string;
}

/** Unused reservations cost nothing but this wait: without it a tenant could end and repeat one indefinitely. */
export async function requireCooledDown(
  { policies, clock }: Services,
  tx: Tx,
  organizationId: string,
  kind: Kind,
): Promise<void> {
  const seconds = policies.get('reservations.cooldown_seconds', { organizationId });
  // Leases do not end in the moment of a cancellation: nodes used until shortly before do not count as
  // unused.
  const idleSeconds = policies.get('reservations.unused_lapse_seconds', { organizationId }) / 2;
  const endedUnused = await withRole(tx, 'gpuaas_worker', () =>
    latestUnusedEnd(tx, organizationId, kind, { now: clock.now(), idleSeconds }),
  );
  if (endedUnused === null) return;
  const until = new Date(endedUnused.getTime() + seconds * 1000);
  if (new Date(kind.startsAt) >= until) return;
  const detail = `The organization kept such nodes unused until ${endedUnused.toISOString()}. It may reserve them again from ${until.toISOString()}.`;
  throw new Problem('reservation_refused', detail, { extensions: { cooldown_until: until.toISOString() } });
}

async function latestUnusedEnd(
  tx: Tx,
  organizationId: string,
  { region, gpuModel, shape }: Kind,
  { now, idleSeconds }: { now: Date; idleSeconds: number },
): Promise<Date | null> {
  const { rows } = await sql<{ ended: Date | null }>`
    select max(least(r.cancelled_at, r.ends_at)) as ended
    from capacity_reservations r join sku_catalog s on s.sku = r.sku
    where r.organization_id = ${organizationId} and r.lapses and not r.cancelled_by_operator
      and r.region = ${region} and s.gpu_model = ${gpuModel} and s.capacity_shape = ${shape}
      and least(r.cancelled_at, r.ends_at) <= ${now} and least(r.cancelled_at, r.ends_at) > r.starts_at
      and (r.used_at is null or r.lapse_reason = 'unused'
        or r.used_at < least(r.cancelled_at, r.ends_at) - make_interval(secs => ${idleSeconds}))`.execute(tx);
  return first(rows, 'row of the statement').ended;
}

/** How much of the fleet all tenants together may reserve for the same period. */
export async function requireWithinFleetShare(
  { policies, fleetIndex: fleet }: Services & WithFleetIndex,
  tx: Tx,
  request: PlacementRequest & { region: string; gpuModel: string },
  nodes: number,
): Promise<void> {
  const { region, gpuModel, shape } = request;
  // One decision at a time for a kind of node, so that two tenants do not both stay below the limit.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`reserve ${region} ${gpuModel} ${shape}`}, 0))`.execute(
    tx,
  );
  await withRole(tx, 'gpuaas_placement', () => fleet.catchUp(tx, [], 'now'));
  const all = [...fleet.nodes].filter((node) =>
    isOfFleetFor({ ...request, gpus: node.layout.size }, node),
  ).length;
  const percent = policies.get('reservations.max_fleet_percent');
  const limit = Math.max(1, Math.floor((all * percent) / 100));
  const kept = await withRole(tx, 'gpuaas_worker', () => keptAtThatTime(tx, request));
  if (kept + nodes <= limit) return;
  const detail = `Tenants may reserve ${limit} of ${all} such nodes (${percent} %) for the same time and have ${kept}; ${nodes} more requested.`;
  throw new Problem('reservation_refused', detail, {
    extensions: { limit, kept, asked: nodes, fleet: all, percent },
  });
}

async function keptAtThatTime(
  tx: Tx,
  { region, gpuModel, shape, now, endsAt }: PlacementRequest,
): Promise<number> {
  const row = await one(
    sql<{ kept: number }>`
    select coalesce(sum(r.node_count), 0)::integer as kept
    from capacity_reservations r join sku_catalog s on s.sku = r.sku
    where r.lapses and r.cancelled_at is null and r.region = ${region} and s.gpu_model = ${gpuModel}
      and s.capacity_shape = ${shape} and r.starts_at < ${new Date(endsAt)} and r.ends_at > ${new Date(now)}`,
    tx,
  );
  return row.kept;
}

function overLimit(whose: string, limit: number, kept: number, asked: number): Problem {
  const detail = `${whose} may reserve ${limit} nodes and has ${kept}; ${asked} more requested. Ask an operator for more.`;
  return new Problem('reservation_refused', detail, { extensions: { limit, kept, asked } });
}
