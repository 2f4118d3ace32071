import { sql } from 'kysely';
import { first } from '../../../platform/present.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import type { Services } from '../../../platform/services.ts';
import { requireForSale, type ProductRow } from '../../catalog/quote.ts';
import type { PlacementRequest } from '../../placement/candidate.ts';
import { toPlacementRequest } from '../launch/placement-request.ts';
import type { QueueEntry } from './order-queue.ts';

export interface QueuedLaunch extends QueueEntry {
  projectId: string;
  createdBy: string;
  sku: string;
  region: string;
  gpuModel: string;
  shape: PlacementRequest['shape'];
  maxDurationSeconds: number | null;
  allowedGpuCounts: number[];
  perGpuHour: { currency: string; micros: bigint };
  /** Why the tenant can no longer buy the product; null while it can. */
  closed: string | null;
}

/** Launches that compete for the same GPUs. */
export interface LaunchQueue {
  launches: QueuedLaunch[];
  /** GPUs of this kind that each tenant holds. */
  held: Map<string, number>;
}

interface LineRow extends Omit<QueuedLaunch, 'queuedAt' | 'perGpuHour' | 'closed'> {
  queuedAt: Date;
  currency: string;
  micros: bigint;
  /** Null if the product was retired. */
  product: ProductRow | null;
  entitled: boolean | null;
  regionStatus: string | null;
}

/** All queued launches, by the GPUs that they wait for. */
export async function loadLaunchQueues({
  db,
  policies,
}: Pick<Services, 'db' | 'policies'>): Promise<LaunchQueue[]> {
  const { rows } = await sql<LineRow>`
    select a.id, a.organization_id as "organizationId", a.project_id as "projectId", a.created_by as "createdBy",
      a.gpu_count as gpus, a.sku, a.region, a.capacity_shape as shape, a.currency, a.per_gpu_hour_micros as micros,
      q.queued_at as "queuedAt", q.max_duration_seconds as "maxDurationSeconds", s.gpu_model as "gpuModel",
      s.allowed_gpu_counts as "allowedGpuCounts", case when s.enabled then to_jsonb(s) end as product,
      e.entitled, r.status as "regionStatus"
    from queued_launches q
      join allocations a on a.id = q.allocation_id
      join sku_catalog s on s.sku = a.sku
      left join sku_entitlements e on e.organization_id = a.organization_id and e.sku = a.sku
      left join regions r on r.region = a.region
    where a.state = 'queued' and a.desired_state = 'active'`.execute(db);
  const launches = rows.map((row): QueuedLaunch => {
    const { currency, micros, product: _product, entitled: _entitled, regionStatus: _status, ...rest } = row;
    return {
      ...rest,
      queuedAt: row.queuedAt.getTime(),
      perGpuHour: { currency, micros },
      closed: whyClosed(policies, row),
    };
  });
  const lines = Map.groupBy(launches, ({ region, gpuModel, shape }) => `${region} ${gpuModel} ${shape}`);
  return await Promise.all(
    [...lines.values()].map(async (line) => ({
      launches: line,
      held: await heldBy(db, first(line, 'launch of the line')),
    })),
  );
}

function whyClosed(policies: Policies, row: LineRow): string | null {
  const { sku, gpus: gpuCount, region, organizationId } = row;
  try {
    requireForSale(policies, { sku, gpuCount, region, organizationId }, row);
    return null;
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

async function heldBy(db: Db, { region, gpuModel }: QueuedLaunch): Promise<Map<string, number>> {
  const { rows } = await sql<{ organizationId: string; gpus: number }>`
    select a.organization_id as "organizationId", sum(a.gpu_count)::integer as gpus
    from allocations a join sku_catalog s on s.sku = a.sku
    where a.region = ${region} and s.gpu_model = ${gpuModel}
      and a.state in ('reserved', 'provisioning', 'active', 'releasing', 'release_failed')
    group by a.organization_id`.execute(db);
  return new Map(rows.map(({ organizationId, gpus }) => [organizationId, gpus]));
}

/** Its placement request if it starts now; holds for its project or for itself count as its own. */
export function queuedPlacementRequest(launch: QueuedLaunch, now: Date): PlacementRequest {
  const { region, gpus, maxDurationSeconds } = launch;
  const asked = {
    region,
    gpu_count: gpus,
    ...(maxDurationSeconds === null ? {} : { max_duration_seconds: maxDurationSeconds }),
  };
  return toPlacementRequest(now, asked, launch, [launch.projectId, launch.id]);
}
