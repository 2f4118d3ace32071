import { expect, it } from 'vitest';
import { chosenSeed } from '../lifecycle/verify-lifecycle.ts';
import { verifyApps } from './verify-apps.ts';

/** `GPUAAS_APP_ROUNDS` makes it longer. */
const rounds = Number(process.env['GPUAAS_APP_ROUNDS'] ?? 8);

it('app instances end as the model allows, over many rounds', async () => {
  const counts = await verifyApps({ seed: chosenSeed(), machines: 4, rounds, operations: 30 });
  expect(counts['die']).toBeGreaterThan(0);
}, 3_600_000);
