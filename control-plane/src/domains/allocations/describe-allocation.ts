import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { resourceName } from '../../platform/ids.ts';
import { cumulativeCost, moneyJson, times, wholeSecondsBetween, type Money } from '../../platform/money.ts';
import { servedSeconds } from '../billing/served-seconds.ts';
import type { AllocationRow } from './move-allocation.ts';
import type { KnownOutage } from './outages-of.ts';
import type { QueueStanding } from './queue/standings.ts';

type Allocation = components['schemas']['Allocation'];

export type Overview = { state: string; stage: string; projected_at: Date } | null;

/** `overview` is what the read model last showed of it, `queue` where it stands in line, `outages` what was not served. */
export function describeAllocation(
  row: AllocationRow,
  now: Date,
  overview: Overview = null,
  queue: QueueStanding | null = null,
  outages: readonly KnownOutage[] = [],
): Allocation {
  const perGpuHour: Money = { currency: row.currency, micros: row.per_gpu_hour_micros };
  const perHour = times(perGpuHour, row.gpu_count);
  return {
    id: row.id,
    resource_name: resourceName({
      region: row.region,
      organizationId: row.organization_id,
      projectId: row.project_id,
      resourceType: 'allocation',
      resourceId: row.id,
    }),
    name: row.name,
    organization_id: row.organization_id,
    project_id: row.project_id,
    sku: row.sku,
    capacity_shape: row.capacity_shape as Allocation['capacity_shape'],
    gpu_count: row.gpu_count,
    image: row.image,
    region: row.region,
    tags: row.tags,
    state: row.state as Allocation['state'],
    states: {
      desired: row.desired_state as Allocation['states']['desired'],
      observed: row.observed_state as Allocation['states']['observed'],
      execution: row.execution_state,
      projected: overview && {
        state: overview.state as Allocation['state'],
        stage: overview.stage,
        projected_at: overview.projected_at.toISOString(),
      },
    },
    quote: { per_gpu_hour: moneyJson(perGpuHour), per_hour: moneyJson(perHour) },
    cost_so_far: moneyJson(cumulativeCost(perHour, billedSeconds(row, now, outages))),
    created_at: row.created_at.toISOString(),
    active_at: row.active_at?.toISOString() ?? null,
    release_requested_at: row.release_requested_at?.toISOString() ?? null,
    released_at: row.released_at?.toISOString() ?? null,
    ends_at: row.ends_at?.toISOString() ?? null,
    root_granted_at: row.root_granted_at?.toISOString() ?? null,
    queue,
    failure: row.failure as Allocation['failure'],
  };
}

/** From observed active to the release request, without what was not served. */
function billedSeconds(row: AllocationRow, now: Date, outages: readonly KnownOutage[]): bigint {
  if (!row.active_at) return 0n;
  const seconds = wholeSecondsBetween(row.active_at, row.release_requested_at ?? now);
  return servedSeconds(row.active_at, 0n, seconds, outages);
}
