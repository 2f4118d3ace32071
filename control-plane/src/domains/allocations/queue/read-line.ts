import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/database.ts';
import type { PlacementRequest } from '../../placement/candidate.ts';
import { launchRequest } from '../launch-request.ts';
import type { Waiting } from './order-queue.ts';

export interface QueuedLaunch extends Waiting {
  projectId: string;
  createdBy: string;
  sku: string;
  region: string;
  gpuModel: string;
  shape: PlacementRequest['shape'];
  maxDurationSeconds: number | null;
  allowedGpuCounts: number[];
  perGpuHour: { currency: string; micros: bigint };
  /** The product is still on sale. */
  open: boolean;
}

/** Launches that compete for the same GPUs. */
export interface Line {
  launches: QueuedLaunch[];
  /** GPUs of this kind that each tenant holds. */
  held: Map<string, number>;
}

/** Everybody who waits, by what they wait for. */
export async function readLines(db: Db | Tx): Promise<Line[]> {
  const { rows } = await sql<
    Omit<QueuedLaunch, 'queuedAt' | 'perGpuHour'> & {
      queuedAt: Date;
      currency: string;
      micros: bigint;
    }
  >`
    select a.id, a.organization_id as "organizationId", a.project_id as "projectId", a.created_by as "createdBy",
      a.gpu_count as gpus, a.sku, a.region, a.capacity_shape as shape, a.currency, a.per_gpu_hour_micros as micros,
      q.queued_at as "queuedAt", q.max_duration_seconds as "maxDurationSeconds", s.gpu_model as "gpuModel",
      s.allowed_gpu_counts as "allowedGpuCounts", s.enabled as open
    from queued_launches q
      join allocations a on a.id = q.allocation_id
      join sku_catalog s on s.sku = a.sku
    where a.state = 'queued' and a.desired_state = 'active'`.execute(db);
  const launches = rows.map(({ currency, micros, ...row }) => ({
    ...row,
    queuedAt: row.queuedAt.getTime(),
    perGpuHour: { currency, micros },
  }));
  const lines = Map.groupBy(launches, ({ region, gpuModel, shape }) => `${region} ${gpuModel} ${shape}`);
  return await Promise.all(
    [...lines.values()].map(async (line) => ({ launches: line, held: await heldBy(db, line[0]!) })),
  );
}

async function heldBy(db: Db | Tx, { region, gpuModel }: QueuedLaunch): Promise<Map<string, number>> {
  const { rows } = await sql<{ organizationId: string; gpus: number }>`
    select a.organization_id as "organizationId", sum(a.gpu_count)::integer as gpus
    from allocations a join sku_catalog s on s.sku = a.sku
    where a.region = ${region} and s.gpu_model = ${gpuModel}
      and a.state in ('reserved', 'provisioning', 'active', 'releasing', 'release_failed')
    group by a.organization_id`.execute(db);
  return new Map(rows.map(({ organizationId, gpus }) => [organizationId, gpus]));
}

/** What it asks of placement if it starts now; a promise to its project or to itself is its own. */
export function requestOf(launch: QueuedLaunch, now: Date): PlacementRequest {
  const { region, gpus, maxDurationSeconds } = launch;
  const asked = {
    region,
    gpu_count: gpus,
    ...(maxDurationSeconds === null ? {} : { max_duration_seconds: maxDurationSeconds }),
  };
  return launchRequest(now, asked, launch, [launch.projectId, launch.id]);
}
