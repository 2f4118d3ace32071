import { Backoff } from '../backoff.ts';
import type { ControlPlane } from '../control-plane.ts';
import { errorMessage, type Logger } from '../logger.ts';
import type { TaskRunner } from './task-runner.ts';

const WAIT_SECONDS = 20;

/** A release must not wait behind a long clone, so several tasks run at a time. */
const MAX_RUNNING = 4;

export interface TaskLoopOptions {
  controlPlane: ControlPlane;
  runner: TaskRunner;
  log: Logger;
  signal: AbortSignal;
}

/** Pulls tasks until the signal fires, then waits for running ones to end. */
export async function pullTasks({ controlPlane, runner, log, signal }: TaskLoopOptions): Promise<void> {
  const running = new Set<Promise<void>>();
  const backoff = new Backoff(250, 10_000);
  while (!signal.aborted) {
    if (running.size >= MAX_RUNNING) {
      await Promise.race(running);
      continue;
    }
    try {
      const signed = await controlPlane.claimTask(WAIT_SECONDS, signal);
      backoff.reset();
      if (signed) start(runner.accept(signed));
    } catch (error) {
      if (signal.aborted) break;
      log.warn({ reason: errorMessage(error) }, 'no task could be claimed');
      await backoff.wait(signal);
    }
  }
  await Promise.all(running);

  function start(accepted: Promise<void>): void {
    const settled = accepted
      .catch((error: unknown) => log.error({ reason: errorMessage(error) }, 'task could not be handled'))
      .then(() => void running.delete(settled));
    running.add(settled);
  }
}
