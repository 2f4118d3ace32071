import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { DBOS } from '@dbos-inc/dbos-sdk';

/**
 * Where tests let the process die as if by kill -9. `GPUAAS_CRASH_AT` names the places, separated by commas,
 * each for any workflow (`provision.begin:after`) or for one (`<workflow id>/provision.begin:after`);
 * `GPUAAS_CRASH_MARKER` is a file that remembers them, so that each happens once.
 */
export function crashPoint(point: string): void {
  const places = process.env['GPUAAS_CRASH_AT'];
  if (!places) return;
  const candidates = [point, `${DBOS.workflowID}/${point}`];
  const place = places.split(',').find((listed) => candidates.includes(listed));
  const marker = process.env['GPUAAS_CRASH_MARKER'];
  if (!place || !marker) return;
  if (existsSync(marker) && readFileSync(marker, 'utf8').split('\n').includes(place)) return;
  appendFileSync(marker, `${place}\n`);
  process.kill(process.pid, 'SIGKILL');
}
