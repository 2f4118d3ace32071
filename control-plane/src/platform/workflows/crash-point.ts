import { existsSync, writeFileSync } from 'node:fs';

/**
 * Where tests let the process die as if by kill -9. `GPUAAS_CRASH_AT=<point>` names the place and
 * `GPUAAS_CRASH_MARKER` a file that makes it happen once.
 */
export function crashPoint(point: string): void {
  if (process.env['GPUAAS_CRASH_AT'] !== point) return;
  const marker = process.env['GPUAAS_CRASH_MARKER'];
  if (!marker || existsSync(marker)) return;
  writeFileSync(marker, point);
  process.kill(process.pid, 'SIGKILL');
}
