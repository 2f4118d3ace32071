import type { CapacityShape } from '../candidate.ts';

/** A seeded generator of numbers from 0 to 1 (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Arrival {
  id: string;
  t: number;
  kind: CapacityShape;
  gpus: number;
  duration: number;
}

/** Typical demand of a GPU cloud: mostly small slices, and whole nodes of 8. */
const mix: readonly (readonly [kind: CapacityShape, gpus: number, weight: number])[] = [
  ['gpu_slice', 1, 40],
  ['gpu_slice', 2, 20],
  ['gpu_slice', 3, 2],
  ['gpu_slice', 4, 18],
  ['gpu_slice', 6, 3],
  ['gpu_slice', 8, 4],
  ['baremetal', 8, 13],
];
const total = mix.reduce((sum, [, , weight]) => sum + weight, 0);
const meanGpus = mix.reduce((sum, [, gpus, weight]) => sum + gpus * weight, 0) / total;

/** Poisson arrivals of leases with exponential length that would fill `load` of the GPUs. */
export function generateChurn(options: {
  gpus: number;
  load: number;
  count: number;
  seed: number;
}): Arrival[] {
  const next = random(options.seed);
  const exponential = (mean: number): number => -mean * Math.log(1 - next());
  let t = 0;
  return Array.from({ length: options.count }, (_, position) => {
    t += exponential(meanGpus / (options.load * options.gpus));
    let left = next() * total;
    const [kind, gpus] = mix.find(([, , weight]) => (left -= weight) < 0) ?? mix[0]!;
    return { id: `r${position}`, t, kind, gpus, duration: exponential(1) };
  });
}
