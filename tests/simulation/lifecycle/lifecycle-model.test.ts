import { expect, it } from 'vitest';
import { chosenSeed, verifyLifecycle } from './verify-lifecycle.ts';

it('random operations lease nothing twice or dirty, and all work ends', async () => {
  const counts = await verifyLifecycle({
    seed: chosenSeed(),
    hosts: 3,
    bursts: 12,
    width: 5,
    settleEvery: 12,
  });
  expect(counts['launch reserved']).toBeGreaterThan(0);
}, 300_000);
