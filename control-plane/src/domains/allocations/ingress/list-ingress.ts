import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, pageOf } from '../../../platform/http/pagination.ts';
import type { AllocationRow } from '../move-allocation.ts';
import { describeIngress } from './describe-ingress.ts';

type Ingress = components['schemas']['Ingress'];

/** What leads to the machine, or is on its way to or from that. */
export async function listIngress(
  tx: Tx,
  allocation: Pick<AllocationRow, 'id' | 'region'>,
  { limit, page }: { limit: number; page?: string },
): Promise<{ items: Ingress[]; next_page: string | null }> {
  const after = decodePage(page, ['uuid']);
  const rows = await tx
    .selectFrom('public_ingresses')
    .selectAll()
    .where('allocation_id', '=', allocation.id)
    .where('state', '!=', 'detached')
    .$if(after !== null, (q) => q.where('id', '>', after![0]!))
    .orderBy('id')
    .limit(limit + 1)
    .execute();
  const { rows: kept, next_page } = pageOf(rows, limit, (row) => [row.id]);
  return { items: kept.map((row) => describeIngress(row, allocation.region)), next_page };
}
