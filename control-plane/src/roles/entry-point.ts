import { realpathSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { sanitize, sanitizeText } from '@gpuaas/contracts/sanitize';
import { ConfigError } from './config.ts';
import { helpText, wantsHelp } from './settings.ts';

/** True when the module is what `node` was started with. */
export function isEntryPoint(filename: string): boolean {
  const started = process.argv[1];
  return started !== undefined && realpathSync(started) === realpathSync(filename);
}

type Undo = () => Promise<void> | void;

/**
 * Says how to undo what was just started. `atOnce` is for whoever will not wait; it may run while `undo` does.
 * Throws when the process is already stopping, so that a start goes no further.
 */
export type OnStop = (undo: Undo, options?: { atOnce?: Undo }) => void;

interface Started {
  undo: Undo;
  atOnce?: Undo;
}

export interface RoleTimings {
  /** Signals this close together are one: npm passes on the Ctrl-C that the terminal has sent to everybody already. */
  oneSignalMs: number;
  /** How long a stop waits for a start that is still under way. */
  startSettlesMs: number;
  /** How long everything may take to stop in good order. */
  stopMs: number;
  /** How long it may take after that, or after a second signal. */
  atOnceMs: number;
}

const TIMINGS: RoleTimings = { oneSignalMs: 200, startSettlesMs: 10_000, stopMs: 25_000, atOnceMs: 5_000 };

/** As shells count: 128 and the number of SIGINT. */
const INTERRUPTED_TWICE = 130;
const WRONG_SETTINGS = 2;

class StoppedWhileStarting extends Error {}

/**
 * Runs a role until SIGINT, SIGTERM or SIGHUP, then undoes what was started, each once and in reverse order. A signal
 * during the start aborts `stopping` and waits for the start to settle. A second signal ends everything at once.
 */
export async function runRole(
  start: (onStop: OnStop, stopping: AbortSignal) => Promise<void>,
  timings: RoleTimings = TIMINGS,
): Promise<void> {
  if (wantsHelp()) return console.log(helpText());
  const standing: Started[] = [];
  let leaving: Started | undefined;
  const stopping = new AbortController();
  let hurried = false;

  const stop = async (exitCode: number): Promise<void> => {
    stopping.abort();
    setTimeout(() => void stopAtOnce(1), timings.stopMs).unref();
    await Promise.race([settled, pause(timings.startSettlesMs)]);
    for (leaving = standing.pop(); leaving; leaving = standing.pop()) await tryTo(leaving.undo);
    if (!hurried) process.exit(exitCode);
  };
  const stopAtOnce = async (exitCode: number): Promise<void> => {
    if (hurried) return;
    hurried = true;
    if (leaving) standing.push(leaving);
    const endStanding = async (): Promise<void> => {
      await Promise.all(standing.splice(0).map(({ atOnce = () => undefined }) => tryTo(atOnce)));
    };
    const ended = Promise.all([endStanding(), settled.then(endStanding)]);
    await Promise.race([ended, pause(timings.atOnceMs)]);
    process.exit(exitCode);
  };
  const endWith = (exitCode: number, onceMore: number): void =>
    void (stopping.signal.aborted ? stopAtOnce(onceMore) : stop(exitCode));

  let signalled = -Infinity;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      const now = performance.now();
      if (now - signalled < timings.oneSignalMs) return;
      signalled = now;
      endWith(0, INTERRUPTED_TWICE);
    });
  // The default would leave the database and its children behind.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error) => {
      complain(error);
      endWith(1, 1);
    });

  const started = start((undo, options = {}) => {
    standing.push({ undo, ...options });
    if (stopping.signal.aborted) throw new StoppedWhileStarting('the process is stopping');
  }, stopping.signal);
  const settled = started.then(
    () => undefined,
    () => undefined,
  );
  try {
    await started;
  } catch (error) {
    if (stopping.signal.aborted) return;
    complain(error);
    await stop(error instanceof ConfigError ? WRONG_SETTINGS : 1);
  }
}

async function tryTo(undo: Undo): Promise<void> {
  try {
    await undo();
  } catch (error) {
    complain(error);
  }
}

/** One line for people, everything for those who ask; connection strings may hold a password. */
function complain(error: unknown): void {
  console.error(sanitizeText(error instanceof Error ? error.message : String(error)));
  if (process.env['GPUAAS_LOG_LEVEL'] === 'debug') console.error(sanitize(error));
}
