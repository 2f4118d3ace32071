export interface RepeatHandle {
  /** Resolves when the run in progress has ended; none follows. */
  stop(): Promise<void>;
}

/**
 * Runs `work` now and then `everyMs` after each end, never concurrently. A failure is reported and does not
 * end it.
 */
export function repeat(
  everyMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): RepeatHandle {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const run = (): void => {
    running = work()
      .catch((error: unknown) => {
        if (!stopped) onError(error);
      })
      .finally(() => {
        if (!stopped) timer = setTimeout(run, everyMs);
      });
  };
  run();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
