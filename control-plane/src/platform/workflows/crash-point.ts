import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { DBOS } from '@dbos-inc/dbos-sdk';

/**
 * Where tests let the process die as if by kill -9. `GPUAAS_CRASH_AT` names the points, separated by commas,
 * each for any workflow (`provision.begin:after`) or for one (`<workflow id>/provision.begin:after`);
 * `GPUAAS_CRASH_MARKER` is a file that records them, so that each happens once.
 */
export function crashPoint(point: string): void {
  if (isDue('GPUAAS_CRASH_AT', point)) process.kill(process.pid, 'SIGKILL');
}

/** A step named in `GPUAAS_FAIL_AT` fails once, after its effect: the hardest moment for a retry. */
export function failurePoint(step: string): void {
  if (isDue('GPUAAS_FAIL_AT', step)) throw new Error(`${step} was made to fail`);
}

/** The effect of a step named in `GPUAAS_TWICE_AT` runs twice in one attempt, once. */
export function shouldRunTwice(step: string): boolean {
  return isDue('GPUAAS_TWICE_AT', step);
}

function isDue(setting: string, point: string): boolean {
  const places = process.env[setting];
  if (!places) return false;
  const candidates = [point, `${DBOS.workflowID}/${point}`];
  const place = places.split(',').find((listed) => candidates.includes(listed));
  const marker = process.env['GPUAAS_CRASH_MARKER'];
  if (!place || !marker) return false;
  if (existsSync(marker) && readFileSync(marker, 'utf8').split('\n').includes(place)) return false;
  appendFileSync(marker, `${place}\n`);
  return true;
}
