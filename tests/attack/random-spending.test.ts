import { expect, it } from 'vitest';
import { spendAtRandom } from './spending-model.ts';

it(
  'random spending of two tenants never exceeds their money and the grace',
  { timeout: 300_000 },
  async () => {
    const seed = Number(process.env['GPUAAS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    const { sold, refused } = await spendAtRandom(seed, 50);
    expect(sold).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  },
);
