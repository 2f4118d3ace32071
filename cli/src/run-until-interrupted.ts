/** Runs endless work until the person interrupts it with Ctrl-C, its normal end. */
export async function runUntilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const left = new AbortController();
  const leave = (): void => left.abort();
  process.once('SIGINT', leave).once('SIGTERM', leave);
  try {
    await work(left.signal);
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave);
  }
}
