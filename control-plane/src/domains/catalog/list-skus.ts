import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { withRole } from '../../platform/db/scope.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import { moneyJson } from '../../platform/money.ts';
import { placementCandidates } from '../fleet/placement-candidates.ts';
import { OPEN_ENDED, type Candidate, type PlacementRequest } from '../placement/candidate.ts';
import { rejectionOf } from '../placement/rank.ts';

type Sku = components['schemas']['Sku'];

/** Products on sale with price and aggregate availability; never which node or device. */
export async function listSkus(policies: Policies, tx: Tx): Promise<Sku[]> {
  const rows = await tx
    .selectFrom('sku_catalog as s')
    .innerJoin('sku_prices as p', 'p.sku', 's.sku')
    .distinctOn(['s.sku'])
    .selectAll('s')
    .select(['p.currency', 'p.per_gpu_hour_micros'])
    .where('s.enabled', '=', true)
    .where('p.effective_from', '<=', sql<Date>`now()`)
    .orderBy('s.sku')
    .orderBy('p.effective_from', 'desc')
    .execute();
  const nodes = await withRole(tx, 'gpuaas_placement', () => placementCandidates(policies, tx));
  const regions = await tx
    .selectFrom('regions')
    .select('region')
    .where('status', '=', 'enabled')
    .orderBy('region')
    .execute();
  return rows.map((row) => ({
    sku: row.sku,
    display_name: row.display_name,
    capacity_shape: row.capacity_shape as Sku['capacity_shape'],
    gpu_model: row.gpu_model,
    gpus_total: row.gpus_total,
    allowed_gpu_counts: row.allowed_gpu_counts,
    resource_profile: { vcpu_per_gpu: row.vcpu_per_gpu, memory_gib_per_gpu: row.memory_gib_per_gpu },
    price_per_gpu_hour: moneyJson({ currency: row.currency, micros: row.per_gpu_hour_micros }),
    availability: regions.map(({ region }) => ({ region, ...stock(nodes, region, row.gpu_model) })),
  }));
}

function stock(
  nodes: readonly Candidate[],
  region: string,
  gpuModel: string,
): { gpus_available: number; largest_slice: number } {
  const single: PlacementRequest = {
    shape: 'gpu_slice',
    gpus: 1,
    region,
    gpuModel,
    now: 0,
    endsAt: OPEN_ENDED,
  };
  const free = nodes.filter((node) => rejectionOf(single, node) === null).map(({ room }) => room.free);
  return { gpus_available: free.reduce((sum, count) => sum + count, 0), largest_slice: Math.max(0, ...free) };
}
