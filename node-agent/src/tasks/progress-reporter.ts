import { pause } from '../backoff.ts';
import type { ControlPlane, Progress, TaskCall } from '../control-plane.ts';
import { ServerRefusedError } from '../http-json.ts';

export type Stage = Progress['stage'];

export interface ProgressReporter {
  update(stage: Stage, percent: number, message: string): void;
  /** Sends what is pending, within a bound, and stops. */
  close(): Promise<void>;
}

export interface ProgressOptions {
  controlPlane: ControlPlane;
  task: TaskCall;
  epoch: () => number;
  /** The server has handed the task to a later attempt. */
  onFenced: () => void;
  intervalMs?: number;
  keepaliveMs?: number;
}

/**
 * Progress may be lost, but each stage is told in order, so that a fast task still shows every step. The last
 * word is repeated now and then because a report is also what keeps the task's lease.
 */
export function createProgressReporter(options: ProgressOptions): ProgressReporter {
  const { intervalMs = 300, keepaliveMs = 5_000 } = options;
  const pending = new Map<Stage, Omit<Progress, 'epoch'>>();
  const stopped = new AbortController();
  let last: Omit<Progress, 'epoch'> | null = null;
  let sending: Promise<void> | null = null;

  async function drain(): Promise<void> {
    for (let next = takeOldest(pending); next; next = takeOldest(pending)) {
      await send(next);
      if (!stopped.signal.aborted && pending.size <= 1) await pause(intervalMs, stopped.signal);
    }
    sending = null;
  }

  async function send(progress: Omit<Progress, 'epoch'>): Promise<void> {
    try {
      await options.controlPlane.reportProgress(options.task, { epoch: options.epoch(), ...progress });
    } catch (error) {
      if (error instanceof ServerRefusedError && (error.status === 409 || error.status === 404))
        options.onFenced();
    }
  }

  const keepalive = setInterval(() => {
    if (!sending && last) sending = send(last).finally(() => (sending = null));
  }, keepaliveMs);
  keepalive.unref();

  return {
    update(stage, percent, message) {
      const whole = Math.max(0, Math.min(100, Math.floor(percent)));
      if (last?.stage === stage && last.percent === whole && last.message === message) return;
      last = { stage, percent: whole, message: message.slice(0, 500) };
      pending.set(stage, last);
      sending ??= drain();
    },
    async close() {
      clearInterval(keepalive);
      stopped.abort();
      const bound = new AbortController();
      await Promise.race([flush(), pause(3_000, bound.signal)]);
      bound.abort();
    },
  };

  async function flush(): Promise<void> {
    await sending;
    await drain();
  }
}

function takeOldest<K, V>(map: Map<K, V>): V | undefined {
  const first = map.entries().next();
  if (first.done) return undefined;
  map.delete(first.value[0]);
  return first.value[1];
}
