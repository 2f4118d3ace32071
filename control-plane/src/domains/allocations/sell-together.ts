import type { Tx } from '../../platform/db/database.ts';
import type { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import type { Product } from '../catalog/quote.ts';
import type { PlacementRequest } from '../placement/candidate.ts';
import type { Charge } from '../quotas/counter.ts';
import { quotaExceeded } from '../quotas/quota-exceeded.ts';
import { checkQuotas } from '../quotas/require-quota.ts';
import type { AllocationRow } from './move-allocation.ts';
import { recordSales, type Sale } from './record-sales.ts';
import { reserveTogether } from './reserve-slots.ts';

/** A launch with everything known but where. */
export interface Order {
  allocation: Omit<Sale['allocation'], 'node_id'>;
  request: PlacementRequest;
  offer: Pick<Product, 'allowedGpuCounts' | 'perGpuHour' | 'gpuModel'>;
  charge: Charge;
}

/** `contested`: others are in the way, and whether it can be served shows only when they have ended. */
export type Outcome = { sold: AllocationRow } | { refused: Problem } | 'contested';

/**
 * Sells to many in one transaction, under the role `gpuaas_placement`: quotas, ranking, locks, sales. Each has an
 * outcome of its own, without savepoints: nothing is written before all decisions stand.
 */
export async function sellTogether(
  services: Pick<Services, 'policies' | 'workflows'>,
  tx: Tx,
  orders: readonly Order[],
): Promise<Outcome[]> {
  const exceeded = await checkQuotas(
    services.policies,
    tx,
    orders.map(({ charge }) => charge),
  );
  const within = orders.filter((_, index) => exceeded[index]!.length === 0);
  const { won } = await reserveTogether(services, tx, within);
  const sales = within.flatMap(({ allocation, offer }, index) => {
    const reservation = won[index];
    if (!reservation) return [];
    const { nodeId, slots } = reservation;
    return [{ allocation: { ...allocation, node_id: nodeId }, slots, gpuModel: offer.gpuModel }];
  });
  const sold = new Map((await recordSales(services, tx, sales)).map((row) => [row.id, row]));
  const everybodyWon = sales.length === within.length;
  return orders.map(({ allocation }, index) => {
    const row = sold.get(allocation.id);
    if (row) return { sold: row };
    // A quota counted for somebody in the group who got nothing is no reason to refuse.
    return exceeded[index]!.length > 0 && everybodyWon
      ? { refused: quotaExceeded(exceeded[index]!) }
      : 'contested';
  });
}
