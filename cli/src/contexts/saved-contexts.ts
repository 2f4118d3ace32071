import { readFileSync } from 'node:fs';
import { settingsFile, writeSettings } from '../settings-folder.ts';
import { hasErrorCode } from '../error-code.ts';

/** A server by name, and where to act there. */
export interface Context {
  url: string;
  /** Id or name; the default of commands. */
  organization?: string;
  project?: string;
  /** Has its own sign-in instead of the one that contexts of a server share. */
  own_login?: boolean;
}

export interface SavedContexts {
  current: string | null;
  contexts: Record<string, Context>;
}

const FILE = 'contexts.json';

export function readContexts(): SavedContexts {
  try {
    return JSON.parse(readFileSync(settingsFile(FILE), 'utf8'));
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return { current: null, contexts: {} };
    throw new Error(`Cannot read ${settingsFile(FILE)}; fix or delete it`, { cause: error });
  }
}

export function writeContexts(kept: SavedContexts): void {
  writeSettings(FILE, kept);
}
