/**
 * Works through rows in the order of their key. `work` reads and handles the rows behind the last one of the batch
 * before, and returns them; a batch that is not full ends the walk.
 */
export async function inBatches<Row>(
  size: number,
  work: (last: Row | null) => Promise<readonly Row[]>,
): Promise<void> {
  let last: Row | null = null;
  do {
    const batch: readonly Row[] = await work(last);
    last = batch.length < size ? null : (batch.at(-1) ?? null);
  } while (last !== null);
}
