import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Backoff, sleep } from '../backoff.ts';
import type { ControlPlane, SignedTask, TaskRefusalReport } from '../control-plane.ts';
import { ensureFolder, readJson, removeDurable, writeDurable } from '../durable-file.ts';
import { ServerRefusedError } from '../http-json.ts';
import { errorMessage, type Logger } from '../logger.ts';

/** Tasks that this agent refused, stored until the platform has recorded them in its audit log. */
export interface RefusalLog {
  add(signed: SignedTask, code: TaskRefusalReport['code'], detail: string, at: Date): Promise<void>;
  deliver(controlPlane: ControlPlane, log: Logger, signal: AbortSignal): Promise<void>;
}

/** A flood of invalid messages must not fill the agent's disk. */
const MAX_KEPT = 64;
const CHECK_EVERY_MS = 60_000;

export async function openRefusalLog(dir: string): Promise<RefusalLog> {
  const folder = join(dir, 'refusals');
  await ensureFolder(folder);
  const waiting = new Set((await readdir(folder)).filter((name) => name.endsWith('.json')));
  let wake = new AbortController();

  return {
    async add({ task }, code, detail, at) {
      if (waiting.size >= MAX_KEPT) return;
      const report: TaskRefusalReport = {
        code,
        detail: detail.slice(0, 500),
        refused_at: at.toISOString(),
        task: {
          task_id: shorten(task.task_id),
          kind: shorten(task.kind),
          epoch: Number.isSafeInteger(task.epoch) ? task.epoch : 0,
        },
      };
      const name = `${randomUUID()}.json`;
      await writeDurable(join(folder, name), `${JSON.stringify(report)}\n`);
      waiting.add(name);
      wake.abort();
    },
    async deliver(controlPlane, log, signal) {
      const backoff = new Backoff(500, 30_000);
      while (!signal.aborted) {
        const [name] = waiting;
        if (name === undefined) {
          await sleep(CHECK_EVERY_MS, AbortSignal.any([signal, wake.signal]));
          if (wake.signal.aborted) wake = new AbortController();
          continue;
        }
        try {
          const report = await readJson<TaskRefusalReport>(join(folder, name));
          if (report) await controlPlane.reportRefusal(report);
          await forget(name);
          backoff.reset();
        } catch (error) {
          if (error instanceof ServerRefusedError && error.status === 400) await forget(name);
          if (!signal.aborted) log.warn({ reason: errorMessage(error) }, 'refusal not reported yet');
          await backoff.wait(signal);
        }
      }
    },
  };

  async function forget(name: string): Promise<void> {
    await removeDurable(join(folder, name));
    waiting.delete(name);
  }
}

/** Shortens a value of an unverified message. */
function shorten(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 64) : 'unknown';
}
