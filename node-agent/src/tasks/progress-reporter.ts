import { sleep } from '../backoff.ts';
import type { ControlPlane, Progress, TaskCall } from '../control-plane.ts';
import { ServerRefusedError } from '../http-json.ts';

export type Stage = Progress['stage'];

type StageReport = NonNullable<Progress['earlier']>[number];

export interface ProgressReporter {
  update(stage: Stage, percent: number, message: string): void;
  /** Sends pending progress, within a time limit, and stops. */
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
 * Progress may be lost, but stages are reported in order, so that a fast task still shows every step: stages
 * passed since the last report are sent with the next. The last report is repeated, because a report also
 * renews the task's lease.
 */
export function createProgressReporter(options: ProgressOptions): ProgressReporter {
  const { intervalMs = 300, keepaliveMs = 5_000 } = options;
  const pending = new Map<Stage, StageReport>();
  const stopped = new AbortController();
  let last: StageReport | null = null;
  let sending: Promise<void> | null = null;

  async function drain(): Promise<void> {
    while (pending.size > 0) {
      const reports = [...pending.values()];
      pending.clear();
      await send(reports.at(-1)!, reports.slice(0, -1));
      if (!stopped.signal.aborted) await sleep(intervalMs, stopped.signal);
    }
    sending = null;
  }

  async function send(current: StageReport, earlier: StageReport[] = []): Promise<void> {
    const report = { epoch: options.epoch(), ...current, ...(earlier.length > 0 ? { earlier } : {}) };
    try {
      await options.controlPlane.reportProgress(options.task, report);
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
      await Promise.race([flush(), sleep(3_000, bound.signal)]);
      bound.abort();
    },
  };

  async function flush(): Promise<void> {
    await sending;
    await drain();
  }
}
