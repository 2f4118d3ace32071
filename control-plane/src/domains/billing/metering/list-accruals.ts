import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { moneyJson } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { accruedSince } from './accrual.ts';
import { readLiveMeters } from './read-open-meters.ts';

export async function listAccruals(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  query: { organization_id: string; project_id?: string; limit: number; page?: string },
): Promise<Page<components['schemas']['Accrual']>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await readLiveMeters(
    tx,
    { organizationId: query.organization_id, projectId: query.project_id },
    { limit: query.limit + 1, ...(after ? { after: after[0] } : {}) },
  );
  const page = toPage(rows, query.limit, (row) => [row.allocationId]);
  const now = clock.now();
  const unreachable = policies.get('fleet.unreachable_after_seconds');
  const items = page.rows.map(({ allocationId, projectId, sku, gpuCount, meter, facts }) => ({
    allocation_id: allocationId,
    project_id: projectId,
    sku,
    gpu_count: gpuCount,
    per_hour: moneyJson(meter.perHour),
    billed: moneyJson({ currency: meter.perHour.currency, micros: meter.billedMicros }),
    accrued: moneyJson(accruedSince(meter, facts, unreachable, now)),
    billed_to: new Date(meter.startedAt.getTime() + Number(meter.meteredSeconds) * 1000).toISOString(),
  }));
  return { items, next_page: page.next_page };
}
