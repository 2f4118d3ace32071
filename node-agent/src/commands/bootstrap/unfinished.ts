import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HostFiles } from '../../host/linux/host-files.ts';

const NOTE = '/var/lib/gpuaas/bootstrap-unfinished.json';

/**
 * Files that were written but whose commands have not all run. The presence of a file proves nothing about
 * its commands.
 */
export function readUnfinishedFiles(files: HostFiles): Set<string> {
  const noted: string[] = JSON.parse(files.text(NOTE) ?? '[]');
  return new Set(noted);
}

export function recordUnfinishedFiles(root: string, paths: ReadonlySet<string>): void {
  const note = join(root, NOTE);
  if (paths.size === 0) return rmSync(note, { force: true });
  mkdirSync(dirname(note), { recursive: true });
  writeFileSync(note, `${JSON.stringify([...paths])}\n`, { mode: 0o600, flush: true });
}
