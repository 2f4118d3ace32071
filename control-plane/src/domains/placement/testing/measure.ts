import { countSlots } from '../slot-mask.ts';
import type { Arrival } from './churn.ts';

export interface SimulatedHost {
  id: string;
  gpus: number;
  numa: number[][];
}

/** Something that places: our ranking, or another to compare it with. */
export interface Scheduler {
  place(asked: Arrival): { node: string; slots: number[] } | null;
  release(id: string): void;
}

/** Share of requests before measuring; until the empty fleet has filled, every ranking performs alike. */
const WARM_UP = 1 / 5;

/** Result after the warm-up. */
export interface PlacementQuality {
  /** Share of all GPU time that was leased. */
  use: number;
  refused: number;
  /** Share of slices of more than one GPU that span no more NUMA nodes than they must. */
  aligned: number;
}

/**
 * Runs arrivals and departures in order and checks every placement against the slots that are really free.
 */
export function measurePlacement(
  hosts: readonly SimulatedHost[],
  stream: readonly Arrival[],
  scheduler: Scheduler,
): PlacementQuality {
  const byId = new Map(hosts.map((host) => [host.id, { ...host, free: (1 << host.gpus) - 1 }]));
  const running: { id: string; ends: number; node: string; mask: number }[] = [];
  let [leased, refused, alignable, aligned] = [0, 0, 0, 0];
  const horizon = stream.at(-1)!.t;
  const first = Math.floor(stream.length * WARM_UP);
  const begin = stream[first]!.t;
  for (const [position, asked] of stream.entries()) {
    const counts = position >= first;
    running.sort((a, b) => a.ends - b.ends);
    while (running[0] && running[0].ends <= asked.t) {
      const ended = running.shift()!;
      byId.get(ended.node)!.free |= ended.mask;
      scheduler.release(ended.id);
    }
    const answer = scheduler.place(asked);
    if (!answer) {
      if (counts) refused += 1;
      continue;
    }
    const host = byId.get(answer.node)!;
    const mask = answer.slots.reduce((bits, slot) => bits | (1 << slot), 0);
    const whole = asked.kind === 'baremetal' ? mask === (1 << host.gpus) - 1 : true;
    if (!whole || countSlots(mask) !== asked.gpus || (host.free & mask) !== mask) {
      throw new Error(`${asked.id}: ${JSON.stringify(answer)} cannot be had`);
    }
    host.free &= ~mask;
    running.push({ id: asked.id, ends: asked.t + asked.duration, node: host.id, mask });
    const counted = Math.min(horizon, asked.t + asked.duration) - Math.max(begin, asked.t);
    leased += asked.gpus * Math.max(0, counted);
    if (!counts || asked.gpus === 1 || asked.gpus >= host.gpus) continue;
    alignable += 1;
    const spanned = host.numa.filter((group) => group.some((slot) => answer.slots.includes(slot))).length;
    if (spanned === Math.ceil(asked.gpus / host.numa[0]!.length)) aligned += 1;
  }
  const capacity = hosts.reduce((sum, { gpus }) => sum + gpus, 0) * (horizon - begin);
  return { use: leased / capacity, refused: refused / (stream.length - first), aligned: aligned / alignable };
}
