import { mkdirSync, openSync, closeSync, fsyncSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from './durable-file.ts';

export type CrashPoint = (kind: string, stage: string) => void;

/** The points of a task's life outside its own stages, in the order they are passed. */
export const LIFECYCLE_POINTS = ['accepted', 'outcome', 'recorded', 'delivered'] as const;

/** For tests: dies like a pulled plug at `<kind>:<stage or life point>`, once per state folder. */
export function createCrashPoint(dir: string, crashAt: string | null, die: () => void): CrashPoint {
  return (kind, stage) => {
    if (crashAt !== `${kind}:${stage}`) return;
    if (leaveMarker(join(dir, 'crash-points'), `${kind}.${stage}`)) die();
  };
}

function leaveMarker(folder: string, name: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    const file = openSync(join(folder, name), 'wx');
    fsyncSync(file);
    closeSync(file);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}
