import { expect, it } from 'vitest';
import { chosenSeed, proveLifecycle } from './prove-lifecycle.ts';

it('whatever is asked at random, nothing is sold twice or dirty, and everything ends', async () => {
  const counts = await proveLifecycle({
    seed: chosenSeed(),
    hosts: 3,
    bursts: 12,
    width: 5,
    settleEvery: 12,
  });
  expect(counts['launch reserved']).toBeGreaterThan(0);
}, 300_000);
