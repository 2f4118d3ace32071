import { join } from 'node:path';
import { readJson, writeDurable } from '../../durable-file.ts';
import type { Host } from '../host.ts';

export type Mode = Parameters<Host['setMode']>[0];

const FILE = 'mode.json';

/** Null before the host is promoted. */
export async function readMode(dir: string): Promise<Mode | null> {
  return (await readJson<{ mode: Mode }>(join(dir, FILE)))?.mode ?? null;
}

export async function writeMode(dir: string, mode: Mode): Promise<void> {
  await writeDurable(join(dir, FILE), `${JSON.stringify({ mode })}\n`);
}
