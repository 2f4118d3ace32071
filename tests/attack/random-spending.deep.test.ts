import { expect, it } from 'vitest';
import { spendAtRandom } from './spending-model.ts';

it(
  'random spending never exceeds the money and the grace, over many seeds',
  { timeout: 1_800_000 },
  async () => {
    const first = Number(process.env['GPUAAS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    const seen = { sold: 0, queued: 0, started: 0, reserved: 0, refused: 0, stopped: 0 };
    for (let run = 0; run < 12; run += 1) {
      const counts = await spendAtRandom(first + run, 120);
      for (const [what, count] of Object.entries(counts)) seen[what as keyof typeof seen] += count;
    }
    // Every way to spend was taken, and every way to be stopped.
    expect(
      Object.values(seen).every((count) => count > 0),
      JSON.stringify(seen),
    ).toBe(true);
  },
);
