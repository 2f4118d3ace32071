import { TaskError } from '../../../tasks/task-error.ts';
import { runOrThrow, type RunCommand } from '../commands.ts';

export interface SanitizeLog {
  state: 'never' | 'done' | 'going on' | 'failed';
  percent: number;
}

/** The low three bits of the drive's status; the last one is done without having given blocks back. */
const STATES = ['never', 'done', 'going on', 'failed', 'done'] as const;

/** The drive's status of its latest sanitize. An unreadable log is an error, never a status. */
export async function readSanitizeLog(run: RunCommand, controller: string): Promise<SanitizeLog> {
  const args = ['sanitize-log', controller, '--output-format=json'];
  const text = await runOrThrow(run, 'wipe_failed', 'nvme', args);
  const log = logIn(text);
  const state = STATES[statusOf(log?.sstat) ?? -1];
  if (!log || !state) {
    const said = text.replaceAll(/\s+/g, ' ').slice(0, 200);
    throw new TaskError('wipe_failed', `the sanitize log of ${controller} cannot be read: ${said}`);
  }
  return { state, percent: (log.sprog / 65536) * 100 };
}

interface PrintedLog {
  /** Progress in 65536ths. */
  sprog: number;
  sstat: unknown;
}

/** Some releases of nvme-cli put it below the name of the device. */
function logIn(text: string): PrintedLog | null {
  const answer = parse(text);
  return [answer, ...Object.values(answer ?? {})].find(isLog) ?? null;
}

function isLog(value: unknown): value is PrintedLog {
  return typeof value === 'object' && value !== null && 'sstat' in value && 'sprog' in value;
}

/**
 * nvme-cli prints the number itself or a sentence such as `(2) Sanitize in Progress.`, among other facts and by names that
 * change from release to release.
 */
function statusOf(sstat: unknown): number | null {
  if (typeof sstat === 'number') return sstat & 7;
  if (typeof sstat !== 'object' || sstat === null) return null;
  const sentences = Object.values(sstat).flatMap((value) => /^\((\d)\) /.exec(String(value))?.[1] ?? []);
  return sentences.length === 1 ? Number(sentences[0]) : null;
}

function parse(text: string): object | null {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' ? answer : null;
  } catch {
    return null;
  }
}
