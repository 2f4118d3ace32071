import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HostFiles } from '../../host/linux/host-files.ts';

const NOTE = '/var/lib/gpuaas/bootstrap-unfinished.json';

/** Files that were written, but not all of whose commands have run: a file in place says nothing of them. */
export function readUnfinished(files: HostFiles): Set<string> {
  return new Set(JSON.parse(files.text(NOTE) ?? '[]') as string[]);
}

export function noteUnfinished(root: string, paths: ReadonlySet<string>): void {
  const note = join(root, NOTE);
  if (paths.size === 0) return rmSync(note, { force: true });
  mkdirSync(dirname(note), { recursive: true });
  writeFileSync(note, `${JSON.stringify([...paths])}\n`, { mode: 0o600, flush: true });
}
