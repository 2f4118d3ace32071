import { readFileSync } from 'node:fs';
import { settingsFile, writeSettings } from '../settings-folder.ts';

/** A server by name, and where to act there. */
export interface Context {
  url: string;
  /** Id or name; what commands take when they are not told. */
  organization?: string;
  project?: string;
  /** Has a sign-in beside the one that contexts of the same server share. */
  own_login?: boolean;
}

export interface KeptContexts {
  current: string | null;
  contexts: Record<string, Context>;
}

const FILE = 'contexts.json';

export function readContexts(): KeptContexts {
  try {
    return JSON.parse(readFileSync(settingsFile(FILE), 'utf8')) as KeptContexts;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: null, contexts: {} };
    throw new Error(`${settingsFile(FILE)} cannot be read; mend or delete it`, { cause: error });
  }
}

export function writeContexts(kept: KeptContexts): void {
  writeSettings(FILE, kept);
}
