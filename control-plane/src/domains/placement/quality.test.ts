import { beforeAll, describe, expect, it } from 'vitest';
import { Simulator } from './simulator/simulator.ts';
import { generateChurn, type Arrival } from './testing/churn.ts';
import {
  measurePlacement,
  type PlacementQuality,
  type Scheduler,
  type SimulatedHost,
} from './testing/measure.ts';

/** Enough seeds for a stable mean: every figure below is the same on every machine. */
const SEEDS = [42, 43, 44, 45, 46];
const REQUESTS = 12_000;
const LOAD = 0.95;

function hosts(sizes: readonly number[]): SimulatedHost[] {
  return sizes.map((gpus, position) => {
    const slots = Array.from({ length: gpus }, (_, slot) => slot);
    const numa = gpus < 4 ? [slots] : [slots.slice(0, gpus / 2), slots.slice(gpus / 2)];
    return { id: `n${String(position).padStart(3, '0')}`, gpus, numa };
  });
}

const uniform = hosts(Array.from({ length: 64 }, () => 8));
const mixed = hosts(Array.from({ length: 16 }, () => [8, 4, 2]).flat());

function ours(fleet: SimulatedHost[], tellDuration = false, written: string[] = []): Scheduler {
  const simulator = new Simulator();
  const answer = (line: object): string => {
    const text = simulator.answer(JSON.stringify(line));
    written.push(text);
    return text;
  };
  answer({ op: 'init', nodes: fleet });
  return {
    place: ({ duration, ...asked }) => {
      const line = { op: 'place', ...asked, ...(tellDuration ? { duration } : {}) };
      const placed = JSON.parse(answer(line)) as ReturnType<Scheduler['place']>;
      return placed?.node ? placed : null;
    },
    release: (id) => answer({ op: 'release', id }),
  };
}

/** Best fit by the fewest GPUs left, then the fewest NUMA nodes crossed: the baseline to beat. */
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

function stream(fleet: SimulatedHost[], seed: number, count = REQUESTS): Arrival[] {
  const gpus = fleet.reduce((sum, host) => sum + host.gpus, 0);
  return generateChurn({ gpus, load: LOAD, count, seed });
}

/** The mean over the seeds. */
function qualityOf(fleet: SimulatedHost[], scheduler: () => Scheduler): PlacementQuality {
  const runs = SEEDS.map((seed) => measurePlacement(fleet, stream(fleet, seed), scheduler()));
  const mean = (of: (quality: PlacementQuality) => number): number =>
    runs.reduce((sum, run) => sum + of(run), 0) / runs.length;
  return { use: mean((q) => q.use), refused: mean((q) => q.refused), aligned: mean((q) => q.aligned) };
}

describe('ranking under churn', { timeout: 120_000 }, () => {
  let blind: PlacementQuality;
  beforeAll(() => {
    blind = qualityOf(uniform, () => ours(uniform));
  });

  it('uses more of like nodes than NUMA-aware best fit, refuses less, and stays in one NUMA node', () => {
    const best = qualityOf(uniform, () => numaBestFit(uniform));
    expect(blind.use).toBeGreaterThan(best.use);
    expect(blind.refused).toBeLessThan(best.refused);
    expect(blind.aligned).toBeGreaterThan(0.95);
  });

  it('uses more of nodes of different sizes than NUMA-aware best fit', () => {
    const best = qualityOf(mixed, () => numaBestFit(mixed));
    const own = qualityOf(mixed, () => ours(mixed));
    expect(own.use / best.use).toBeGreaterThan(1.01);
    expect(own.refused / best.refused).toBeLessThan(0.95);
    expect(own.aligned).toBeGreaterThan(0.95);
  });

  it('uses more still when it knows how long leases last', () => {
    const informed = qualityOf(uniform, () => ours(uniform, true));
    expect(informed.use).toBeGreaterThanOrEqual(0.885);
    expect(informed.aligned).toBeGreaterThanOrEqual(0.9);
    expect(informed.use / blind.use).toBeGreaterThan(1.005);
    expect(informed.refused / blind.refused).toBeLessThan(0.97);
  });
});

it('a replay gives the same bytes, in any order of nodes', () => {
  const replay = (fleet: SimulatedHost[]): string => {
    const written: string[] = [];
    measurePlacement(mixed, stream(mixed, 42, 3000), ours(fleet, true, written));
    return written.join('\n');
  };
  const first = replay(mixed);
  expect(first).toContain('"why"');
  expect(replay(mixed)).toBe(first);
  expect(replay(mixed.toReversed())).toBe(first);
});
