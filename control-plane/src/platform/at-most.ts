/** Lets at most `limit` of the given works run at the same time; the others wait for their turn, in order. */
export function atMost(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running < limit) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The turn goes to the next one; only when nobody waits is there room again.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
