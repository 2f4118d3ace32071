import { expect, test } from 'vitest';
import type { AppTarget, Sku } from '../../api/types.ts';
import { smallestFit } from './smallest-fit.ts';
import { chooseTarget, targetRefusal } from './target-refusal.ts';

function target(allocation_id: string, change: Partial<AppTarget> = {}): AppTarget {
  return {
    allocation_id,
    name: allocation_id,
    capacity_shape: 'gpu_slice',
    gpu_count: 1,
    state: 'active',
    per_hour: { currency: 'USD', micros: 1 },
    compatible: true,
    refusals: [],
    gate: null,
    ...change,
  };
}

const small = target('small', {
  compatible: false,
  refusals: [{ code: 'gpu_count', message: 'The app needs 8 GPUs, and the allocation has 1.' }],
});
const gate = { gate: 'capacity', reason: 'capacity', message: 'The machine starts.', facts: {} } as const;
const starting = target('starting', { gate: { ...gate, outcome: 'wait' } });
const leaving = target('leaving', { gate: { ...gate, outcome: 'reject' } });
const ready = target('ready');

test('an allocation that does not fit, or whose gate rejects, says why', () => {
  expect(targetRefusal(small)).toBe('The app needs 8 GPUs, and the allocation has 1.');
  expect(targetRefusal(leaving)).toBe('The machine starts.');
  expect(targetRefusal(starting)).toBeNull();
});

test('the choice is the one asked for if it fits, else one that is ready, else one that will be', () => {
  expect(chooseTarget([small, starting, ready], undefined)).toBe(ready);
  expect(chooseTarget([small, starting, ready], 'starting')).toBe(starting);
  expect(chooseTarget([small, starting, ready], 'small')).toBe(ready);
  expect(chooseTarget([small, leaving, starting], undefined)).toBe(starting);
  expect(chooseTarget([small, leaving], undefined)).toBeNull();
});

const compatibility = {
  requires_capacity_shape: ['gpu_slice' as const, 'baremetal' as const],
  min_gpu_count: 0,
  requires_exclusive_node: false,
  needs_root: false,
};

function sku(name: string, change: Partial<Sku>): Sku {
  return {
    sku: name,
    capacity_shape: 'gpu_slice',
    entitled: true,
    allowed_gpu_counts: [4, 1, 2],
    price_per_gpu_hour: { currency: 'USD', micros: 3_000_000 },
    ...change,
  } as Sku;
}

test('the new allocation is the cheapest that fits', () => {
  const slice = sku('slice', {});
  const host = sku('host', { capacity_shape: 'baremetal', allowed_gpu_counts: [8] });
  const all = [host, slice, sku('other', { entitled: false, allowed_gpu_counts: [1] })];
  expect(smallestFit(compatibility, all)).toMatchObject({
    sku: slice,
    gpus: 1,
    perHour: { micros: 3_000_000 },
  });
  expect(smallestFit({ ...compatibility, min_gpu_count: 3 }, all)).toMatchObject({ sku: slice, gpus: 4 });
  expect(smallestFit({ ...compatibility, requires_exclusive_node: true }, all)).toMatchObject({ sku: host });
  expect(smallestFit({ ...compatibility, min_gpu_count: 9 }, all)).toBeNull();
});
