import { realpathSync } from 'node:fs';
import { sanitize, sanitizeText } from '@gpuaas/contracts/sanitize';

/** True when the module is what `node` was started with. */
export function isEntryPoint(filename: string): boolean {
  const started = process.argv[1];
  return started !== undefined && realpathSync(started) === realpathSync(filename);
}

type Stop = () => Promise<void> | void;

const STOP_DEADLINE_MS = 25_000;

/**
 * Runs a role until SIGINT, SIGTERM or SIGHUP, then undoes what was started in reverse order. A signal during the
 * start undoes what stands by then.
 */
export async function runRole(start: (onStop: (stop: Stop) => void) => Promise<void>): Promise<void> {
  const stops: Stop[] = [];
  let stopping = false;
  const stop = async (exitCode: number): Promise<void> => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
    let undo = stops.pop();
    while (undo) {
      try {
        await undo();
      } catch (error) {
        complain(error);
      }
      undo = stops.pop();
    }
    process.exit(exitCode);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));
  try {
    await start((undo) => {
      stops.push(undo);
      // Arrived after the signal: the loop above may already be past it.
      if (stopping) void undo();
    });
  } catch (error) {
    if (stopping) return;
    complain(error);
    await stop(1);
  }
}

/** One line for people, everything for those who ask; connection strings may hold a password. */
function complain(error: unknown): void {
  console.error(sanitizeText(error instanceof Error ? error.message : String(error)));
  if (process.env['GPUAAS_LOG_LEVEL'] === 'debug') console.error(sanitize(error));
}
