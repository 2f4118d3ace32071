import { describe, expect, it } from 'vitest';
import { Simulator } from './simulator/simulator.ts';
import { churn, type Arrival } from './testing/churn.ts';
import { measure, type Quality, type Scheduler, type SimulatedHost } from './testing/measure.ts';

const SEEDS = [11, 12];

function hosts(sizes: readonly number[]): SimulatedHost[] {
  return sizes.map((gpus, position) => {
    const slots = Array.from({ length: gpus }, (_, slot) => slot);
    const numa = gpus < 4 ? [slots] : [slots.slice(0, gpus / 2), slots.slice(gpus / 2)];
    return { id: `n${String(position).padStart(3, '0')}`, gpus, numa };
  });
}

const uniform = hosts(Array.from({ length: 64 }, () => 8));
const mixed = hosts(Array.from({ length: 16 }, () => [8, 4, 2]).flat());

function ours(fleet: SimulatedHost[], tellDuration = false): Scheduler {
  const simulator = new Simulator();
  simulator.answer(JSON.stringify({ op: 'init', nodes: fleet }));
  return {
    place: ({ duration, ...asked }) => {
      const line = { op: 'place', ...asked, ...(tellDuration ? { duration } : {}) };
      const answer = JSON.parse(simulator.answer(JSON.stringify(line))) as ReturnType<Scheduler['place']>;
      return answer?.node ? answer : null;
    },
    release: (id) => simulator.answer(JSON.stringify({ op: 'release', id })),
  };
}

/** Best fit by the fewest GPUs left, then the fewest NUMA nodes crossed; what we must not fall behind. */
function numaBestFit(fleet: SimulatedHost[]): Scheduler {
  const free = new Map(fleet.map((host) => [host, new Set(host.numa.flat())]));
  const held = new Map<string, { host: SimulatedHost; slots: number[] }>();
  const choose = (host: SimulatedHost, gpus: number): { slots: number[]; groups: number } => {
    const groups = host.numa.map((group) => group.filter((slot) => free.get(host)!.has(slot)));
    const fitting = groups.filter((group) => group.length >= gpus).toSorted((a, b) => a.length - b.length)[0];
    if (fitting) return { slots: fitting.slice(0, gpus), groups: 1 };
    const slots = groups.toSorted((a, b) => b.length - a.length).flat();
    return { slots: slots.slice(0, gpus), groups: 2 };
  };
  const place = ({ id, kind, gpus }: Arrival): ReturnType<Scheduler['place']> => {
    let best: { host: SimulatedHost; slots: number[]; cost: number } | null = null;
    for (const host of fleet) {
      const room = free.get(host)!.size;
      if (kind === 'baremetal' ? host.gpus !== gpus || room !== gpus : room < gpus) continue;
      const { slots, groups } = choose(host, gpus);
      const cost = (room - gpus) * 10 + groups;
      if (!best || cost < best.cost) best = { host, slots, cost };
    }
    if (!best) return null;
    for (const slot of best.slots) free.get(best.host)!.delete(slot);
    held.set(id, best);
    return { node: best.host.id, slots: best.slots };
  };
  return {
    place,
    release: (id) => {
      const { host, slots } = held.get(id)!;
      for (const slot of slots) free.get(host)!.add(slot);
    },
  };
}

/** The mean over the seeds. */
function qualityOf(fleet: SimulatedHost[], load: number, scheduler: () => Scheduler): Quality {
  const gpus = fleet.reduce((sum, host) => sum + host.gpus, 0);
  const runs = SEEDS.map((seed) => measure(fleet, churn({ gpus, load, count: 6000, seed }), scheduler()));
  const mean = (of: (quality: Quality) => number): number =>
    runs.reduce((sum, run) => sum + of(run), 0) / runs.length;
  return { use: mean((q) => q.use), refused: mean((q) => q.refused), aligned: mean((q) => q.aligned) };
}

describe('ranking under churn, beside NUMA-aware best fit', () => {
  it('uses as much of like nodes, refuses no more, and stays in one NUMA node', () => {
    const [best, own] = [
      qualityOf(uniform, 0.95, () => numaBestFit(uniform)),
      qualityOf(uniform, 0.95, () => ours(uniform)),
    ];
    expect(own.use / best.use).toBeGreaterThan(0.9985);
    expect(own.refused / best.refused).toBeLessThan(1.03);
    expect(own.aligned).toBeGreaterThan(0.95);
  });

  it('uses more of nodes of different sizes', () => {
    const [best, own] = [
      qualityOf(mixed, 0.95, () => numaBestFit(mixed)),
      qualityOf(mixed, 0.95, () => ours(mixed)),
    ];
    expect(own.use / best.use).toBeGreaterThan(1.01);
    expect(own.refused / best.refused).toBeLessThan(0.95);
    expect(own.aligned).toBeGreaterThan(0.95);
  });

  it('uses more still when it knows how long leases last', () => {
    const [blind, told] = [
      qualityOf(uniform, 0.95, () => ours(uniform)),
      qualityOf(uniform, 0.95, () => ours(uniform, true)),
    ];
    expect(told.use / blind.use).toBeGreaterThan(1.005);
    expect(told.refused / blind.refused).toBeLessThan(0.97);
    expect(told.aligned).toBeGreaterThan(0.9);
  });
});
