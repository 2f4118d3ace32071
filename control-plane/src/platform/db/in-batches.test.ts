import { expect, it } from 'vitest';
import { inBatches } from './in-batches.ts';

async function walk(rows: number[], size: number): Promise<{ seen: number[]; reads: number }> {
  const seen: number[] = [];
  let reads = 0;
  await inBatches<number>(size, (last) => {
    reads += 1;
    const batch = rows.filter((row) => last === null || row > last).slice(0, size);
    seen.push(...batch);
    return Promise.resolve(batch);
  });
  return { seen, reads };
}

it('handles every row once, in order', async () => {
  expect(await walk([1, 2, 3, 4, 5], 2)).toEqual({ seen: [1, 2, 3, 4, 5], reads: 3 });
});

it('reads once more after a full last batch, and once if there is nothing', async () => {
  expect(await walk([1, 2, 3, 4], 2)).toEqual({ seen: [1, 2, 3, 4], reads: 3 });
  expect(await walk([], 2)).toEqual({ seen: [], reads: 1 });
});
