import type { LaunchDecision } from '@gpuaas/control-plane/domains/allocations/launch/order-reserver';
import type { LaunchOrder } from '@gpuaas/control-plane/domains/allocations/launch/launch';
import { randomOrder, seededRandom, type Buyer } from './fleet.ts';

export interface Rate {
  served: number;
  perSecond: number;
  p50: number;
  p99: number;
  /** Requests that found no room or lost to others. */
  unserved: number;
}

export interface Variant {
  sell(order: LaunchOrder): Promise<LaunchDecision | { kind: 'reserved'; allocation: { id: string } }>;
  release(allocationId: string): Promise<void>;
}

/** Clients that each sell, hold a few, and release one of those for each they get, so that the fleet stays as full. */
export async function runClients(
  { clients, seconds, buyers }: { clients: number; seconds: number; buyers: readonly Buyer[] },
  held: string[],
  variant: Variant,
): Promise<Rate> {
  const took: number[] = [];
  let unserved = 0;
  const began = performance.now();
  const client = async (seed: number): Promise<void> => {
    const random = seededRandom(seed);
    while (performance.now() - began < seconds * 1000) {
      const start = performance.now();
      const outcome = await variant.sell(randomOrder(random, buyers));
      if (outcome.kind !== 'reserved') {
        unserved += 1;
      } else {
        took.push(performance.now() - start);
        held.push(outcome.allocation.id);
      }
      const [victim] = held.splice(Math.floor(random() * held.length), 1);
      if (victim !== undefined) await variant.release(victim);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index + 1)));
  const elapsed = (performance.now() - began) / 1000;
  took.sort((a, b) => a - b);
  const at = (part: number): number => took[Math.min(took.length - 1, Math.floor(took.length * part))] ?? NaN;
  return { served: took.length, perSecond: took.length / elapsed, p50: at(0.5), p99: at(0.99), unserved };
}
