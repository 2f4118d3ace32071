/** Runs at most `limit` of the given works concurrently; the others wait in order. */
export function limitConcurrency(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running < limit) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // Pass the turn to the next one; the count drops only if none waits.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
