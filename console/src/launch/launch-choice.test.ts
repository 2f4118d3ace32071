import { expect, test } from 'vitest';
import type { Sku } from '../api/types.ts';
import { gpuCountError, launchChoice, findSku, type Catalog } from './launch-choice.ts';

const sku: Sku = {
  sku: 'h200-slice',
  display_name: 'H200 slice',
  capacity_shape: 'gpu_slice',
  gpu_model: 'H200',
  gpus_total: 8,
  allowed_gpu_counts: [1, 2, 4],
  resource_profile: { vcpu_per_gpu: 24, memory_gib_per_gpu: 240 },
  price_per_gpu_hour: { currency: 'USD', micros: 3_490_000 },
  entitled: true,
  availability: [
    {
      region: 'north',
      gpus_available: 9,
      largest_slice: 2,
      by_gpu_count: [],
      price_per_gpu_hour: { currency: 'USD', micros: 3_490_000 },
    },
  ],
};

const catalog: Catalog = {
  skus: [sku],
  regions: [
    { region: 'east', display_name: 'East', status: 'coming' },
    { region: 'north', display_name: 'North', status: 'enabled' },
  ],
  images: [
    { image: 'ubuntu', display_name: 'Ubuntu', kind: 'base', digest: 'sha256:0', readiness_checks: [] },
  ],
};

test('an empty URL gets the first available choice', () => {
  expect(launchChoice({}, catalog)).toMatchObject({
    region: 'north',
    gpus: 1,
    largestSlice: 2,
    gpusAvailable: 9,
  });
});

test('an unopened region and an unavailable size in the URL are ignored', () => {
  expect(launchChoice({ region: 'east', gpus: 3 }, catalog)).toMatchObject({ region: 'north', gpus: 1 });
  expect(launchChoice({ gpus: 4 }, catalog)).toMatchObject({ gpus: 4 });
});

test('a size that does not fit on one node is marked', () => {
  expect(gpuCountError(2, { sku, largestSlice: 2 })).toBeNull();
  expect(gpuCountError(4, { sku, largestSlice: 2 })).toContain('the largest free slice is 2');
  expect(gpuCountError(1, { sku, largestSlice: 0 })).toContain('No GPU is free');
});

test('bare metal is another product of the same GPU', () => {
  const node: Sku = { ...sku, sku: 'h200-node', capacity_shape: 'baremetal', allowed_gpu_counts: [8] };
  const both = { ...catalog, skus: [node, sku] };
  expect(launchChoice({}, both)).toMatchObject({ sku: { sku: 'h200-slice' } });
  expect(launchChoice({ sku: 'h200-node' }, both)).toMatchObject({ gpus: 8 });
  expect(findSku(both.skus, 'baremetal', 'H200')).toBe(node);
  expect(gpuCountError(8, { sku: node, largestSlice: 0 })).toContain('No whole host');
});

test('the price is that of the region', () => {
  const [stock] = sku.availability;
  const dear = { ...stock!, price_per_gpu_hour: { currency: 'USD', micros: 9_000_000 } };
  const elsewhere = { ...sku, availability: [dear] };
  expect(launchChoice({}, { ...catalog, skus: [elsewhere] })?.perGpuHour.micros).toBe(9_000_000);
});
