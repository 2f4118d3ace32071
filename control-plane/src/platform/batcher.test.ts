import { expect, it } from 'vitest';
import { Batcher } from './batcher.ts';

/** Batches that end on demand. */
function heldGroups(limits: { size: number; underWay: number }) {
  const begun: { items: number[]; end(): void; fail(error: Error): void }[] = [];
  const batcher = new Batcher<number, number>(
    (items) => {
      const { promise, resolve, reject } = Promise.withResolvers<number[]>();
      begun.push({ items, end: () => resolve(items.map((item) => item * 10)), fail: reject });
      return promise;
    },
    { batch: 'test', ...limits },
  );
  return { batcher, begun };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('takes together what arrives together, and what arrives meanwhile as the next group', async () => {
  const { batcher, begun } = heldGroups({ size: 3, underWay: 1 });
  const first = [1, 2].map((item) => batcher.submit(item));
  await nextTurn();
  const later = [3, 4, 5, 6].map((item) => batcher.submit(item));
  await nextTurn();
  expect(begun.map(({ items }) => items)).toEqual([[1, 2]]);
  begun[0]!.end();
  expect(await Promise.all(first)).toEqual([10, 20]);
  await expect.poll(() => begun.length).toBe(2);
  begun[1]!.end();
  await expect.poll(() => begun.length).toBe(3);
  begun[2]!.end();
  expect(begun.map(({ items }) => items)).toEqual([[1, 2], [3, 4, 5], [6]]);
  expect(await Promise.all(later)).toEqual([30, 40, 50, 60]);
});

it('runs up to the limit of batches, and a failing batch fails only its own items', async () => {
  const { batcher, begun } = heldGroups({ size: 1, underWay: 2 });
  const outcomes = [1, 2, 3].map((item) => batcher.submit(item).catch((error: Error) => error.message));
  await nextTurn();
  expect(begun.length).toBe(2);
  begun[0]!.fail(new Error('refused'));
  await expect.poll(() => begun.length).toBe(3);
  begun[1]!.end();
  begun[2]!.end();
  expect(await Promise.all(outcomes)).toEqual(['refused', 20, 30]);
});
