import { realpathSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { isConnectionError } from '@gpuaas/contracts/connection-error';
import { refuseNodeRelease } from '@gpuaas/contracts/node-release';
import { sanitize, sanitizeText } from '@gpuaas/contracts/sanitize';
import { ConfigError } from './config.ts';
import { helpText, wantsHelp } from './settings.ts';

/** True if `node` was started with this module. */
export function isEntryPoint(filename: string): boolean {
  const started = process.argv[1];
  return started !== undefined && realpathSync(started) === realpathSync(filename);
}

type Undo = () => Promise<void> | void;

/**
 * Registers how to undo a started part. `immediately` is the fast variant after a second signal; it may run while
 * `undo` does. Throws if the process is already stopping, so that a start goes no further.
 */
export type OnStop = (undo: Undo, options?: { immediately?: Undo }) => void;

interface Started {
  undo: Undo;
  immediately?: Undo;
}

export interface RoleTimings {
  /**
   * Signals this close together count as one: npm passes on the Ctrl-C that the terminal has already sent to
   * every process.
   */
  oneSignalMs: number;
  /** How long a stop waits for a running start. */
  startSettlesMs: number;
  /** How long an orderly stop may take. */
  stopMs: number;
  /** How long the fast stop may take after that, or after a second signal. */
  immediateMs: number;
}

const TIMINGS: RoleTimings = { oneSignalMs: 200, startSettlesMs: 10_000, stopMs: 25_000, immediateMs: 5_000 };

/** As shells count: 128 plus the number of SIGINT. */
const INTERRUPTED_TWICE = 130;
const WRONG_SETTINGS = 2;

class StoppedWhileStarting extends Error {}

/**
 * Runs a role until SIGINT, SIGTERM or SIGHUP, then undoes what was started, each part once and in reverse
 * order. A signal during the start aborts `stopping` and waits for the start to settle. A second signal ends
 * everything immediately. `fail` ends the role with exit code 1 when it loses something it cannot run
 * without.
 */
export async function runRole(
  start: (onStop: OnStop, stopping: AbortSignal, fail: (error: unknown) => void) => Promise<void>,
  timings: RoleTimings = TIMINGS,
): Promise<void> {
  if (wantsHelp()) return console.log(helpText());
  const tooOld = refuseNodeRelease(process.version);
  if (tooOld) {
    console.error(tooOld);
    return process.exit(WRONG_SETTINGS);
  }
  const standing: Started[] = [];
  let leaving: Started | undefined;
  const stopping = new AbortController();
  let hurried = false;

  const stop = async (exitCode: number): Promise<void> => {
    stopping.abort();
    setTimeout(() => void stopImmediately(1), timings.stopMs).unref();
    await Promise.race([settled, pause(timings.startSettlesMs)]);
    for (leaving = standing.pop(); leaving; leaving = standing.pop()) await tryTo(leaving.undo);
    if (!hurried) process.exit(exitCode);
  };
  const stopImmediately = async (exitCode: number): Promise<void> => {
    if (hurried) return;
    hurried = true;
    if (leaving) standing.push(leaving);
    const endStanding = async (): Promise<void> => {
      await Promise.all(standing.splice(0).map(({ immediately = () => undefined }) => tryTo(immediately)));
    };
    const ended = Promise.all([endStanding(), settled.then(endStanding)]);
    await Promise.race([ended, pause(timings.immediateMs)]);
    process.exit(exitCode);
  };
  const endWith = (exitCode: number, onceMore: number): void =>
    void (stopping.signal.aborted ? stopImmediately(onceMore) : stop(exitCode));

  const fail = (error: unknown): void => {
    complain(error);
    endWith(1, 1);
  };

  let signalled = -Infinity;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      const now = performance.now();
      if (now - signalled < timings.oneSignalMs) return;
      signalled = now;
      endWith(0, INTERRUPTED_TWICE);
    });
  // A broken connection is not a broken process. Any other error may have left half a change in memory: the
  // process stops in order and is started again. Node's default would leave the database and its children
  // behind.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error) => {
      if (isConnectionError(error)) complain(error);
      else fail(error);
    });

  const started = start(
    (undo, options = {}) => {
      standing.push({ undo, ...options });
      if (stopping.signal.aborted) throw new StoppedWhileStarting('the process is stopping');
    },
    stopping.signal,
    fail,
  );
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

/** One line for people, everything at debug level; connection strings may hold a password. */
function complain(error: unknown): void {
  console.error(sanitizeText(error instanceof Error ? error.message : String(error)));
  if (process.env['GPUAAS_LOG_LEVEL'] === 'debug') console.error(sanitize(error));
}
