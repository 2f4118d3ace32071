import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import type { AllocationRow } from '../transition-allocation.ts';
import { describeIngress } from './describe-ingress.ts';

type Ingress = components['schemas']['Ingress'];

/** Forwardings to the machine, including those being attached or detached. */
export async function listIngress(
  tx: Tx,
  allocation: Pick<AllocationRow, 'id' | 'region'>,
  { limit, page }: { limit: number; page?: string },
): Promise<Page<Ingress>> {
  const after = decodePage(page, ['uuid']);
  const rows = await tx
    .selectFrom('public_ingresses')
    .selectAll()
    .where('allocation_id', '=', allocation.id)
    .where('state', '!=', 'detached')
    .$call(fromCursor(after, (q, [id]) => q.where('id', '>', id)))
    .orderBy('id')
    .limit(limit + 1)
    .execute();
  const { rows: kept, next_page } = toPage(rows, limit, (row) => [row.id]);
  return { items: kept.map((row) => describeIngress(row, allocation.region)), next_page };
}
