/** Runs something endless until the person leaves it with Ctrl-C, which is how it is meant to end. */
export async function untilLeft(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const left = new AbortController();
  const leave = (): void => left.abort();
  process.once('SIGINT', leave).once('SIGTERM', leave);
  try {
    await work(left.signal);
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave);
  }
}
