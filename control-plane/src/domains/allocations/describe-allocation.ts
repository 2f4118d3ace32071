import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { resourceName } from '../../platform/ids.ts';
import { moneyJson, multiplyMoney, type Money } from '../../platform/money.ts';
import type { LeaseCost } from '../billing/metering/accrual.ts';
import type { AllocationRow } from './transition-allocation.ts';
import type { QueueStanding } from './queue/queue-status.ts';

type Allocation = components['schemas']['Allocation'];

export type Overview = { state: Allocation['state']; stage: string; projected_at: Date } | null;

/** What only other tables know of an allocation. */
interface Surroundings {
  /** As the read model last showed it. */
  overview?: Overview | undefined;
  queue?: QueueStanding | undefined;
  /** Missing until it is active. */
  cost?: LeaseCost | undefined;
}

export function describeAllocation(
  row: AllocationRow,
  { overview, queue, cost }: Surroundings = {},
): Allocation {
  const perGpuHour: Money = { currency: row.currency, micros: row.per_gpu_hour_micros };
  const perHour = multiplyMoney(perGpuHour, row.gpu_count);
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
    capacity_shape: row.capacity_shape,
    gpu_count: row.gpu_count,
    image: row.image,
    region: row.region,
    tags: row.tags,
    state: row.state,
    states: {
      desired: row.desired_state,
      observed: row.observed_state,
      execution: row.execution_state,
      projected: overview
        ? {
            state: overview.state,
            stage: overview.stage,
            projected_at: overview.projected_at.toISOString(),
          }
        : null,
    },
    quote: { per_gpu_hour: moneyJson(perGpuHour), per_hour: moneyJson(perHour) },
    cost_so_far: moneyJson(cost?.total ?? { currency: row.currency, micros: 0n }),
    accruing: cost?.isAccruing ?? false,
    created_at: row.created_at.toISOString(),
    active_at: row.active_at?.toISOString() ?? null,
    release_requested_at: row.release_requested_at?.toISOString() ?? null,
    released_at: row.released_at?.toISOString() ?? null,
    ends_at: row.ends_at?.toISOString() ?? null,
    root_granted_at: row.root_granted_at?.toISOString() ?? null,
    queue: queue ?? null,
    failure: row.failure,
  };
}
