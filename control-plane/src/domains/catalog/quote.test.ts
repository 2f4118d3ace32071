import { expect, it } from 'vitest';
import { fixedPolicies } from '../../platform/policy/testing.ts';
import { quoteFromSnapshot, type CatalogSnapshot } from './quote.ts';

const BEFORE = new Date('2026-03-31T23:59:59.999Z');
const CHANGE = new Date('2026-04-01T00:00:00Z');
const organizationId = '019a8000-0000-7000-8000-00000000000a';

it('what was read for one moment is priced for that moment, also when the price has ended since', () => {
  const price = (id: string, tenant: string | null, micros: bigint, effectiveUntil: Date | null) => ({
    id,
    organizationId: tenant,
    perGpuHour: { currency: 'USD', micros },
    effectiveFrom: new Date('2026-01-01T00:00:00Z'),
    effectiveUntil,
  });
  const shelf = {
    product: {
      sku: 'h200-sxm-slice',
      capacity_shape: 'gpu_slice',
      gpu_model: 'H200-SXM-141GB',
      allowed_gpu_counts: [1, 2],
      enabled: true,
    },
    entitled: true,
    regionStatus: 'enabled',
    imageDigest: 'sha256:0',
    prices: [price('list', null, 2_990_000n, null), price('own', organizationId, 1_000_000n, CHANGE)],
  } as unknown as CatalogSnapshot;
  const asked = { sku: 'h200-sxm-slice', gpuCount: 1, image: 'i', region: 'r', organizationId };
  const policies = fixedPolicies({ 'catalog.slices_enabled': true });
  expect(quoteFromSnapshot(policies, asked, shelf, BEFORE).perGpuHour.micros).toBe(1_000_000n);
});
