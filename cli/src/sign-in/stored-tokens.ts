import { readFileSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { settingsFile, writeSettings } from '../settings-folder.ts';
import { systemKeyring } from './keyring.ts';
import { hasErrorCode } from '../error-code.ts';

/** Result of a sign-in at one platform. */
export interface StoredTokens {
  issuer: string;
  client_id: string;
  access_token: string;
  refresh_token: string | null;
  /** RFC 3339 expiry of the access token. */
  expires_at: string;
}

/** In a file only if no keyring takes them. */
type Entry = StoredTokens | { kept_in: 'keyring' };

const FILE = 'tokens.json';
const LOCK_WAIT_MS = 15_000;
const LOCK_STALE_MS = 90_000;

export async function readTokens(signIn: string): Promise<StoredTokens | null> {
  const entry = readAll()[signIn];
  if (!entry || !('kept_in' in entry)) return entry ?? null;
  const secret = await systemKeyring()?.read(signIn);
  if (!secret) throw new Error('Cannot read your sign-in from the keyring; unlock it, or run gpuaas login.');
  return JSON.parse(secret);
}

/** Where the sign-in is stored, for display. */
export function tokenStorage(signIn: string): 'keyring' | 'file' | null {
  const entry = readAll()[signIn];
  if (!entry) return null;
  return 'kept_in' in entry ? 'keyring' : 'file';
}

/** Null forgets them. */
export async function writeTokens(signIn: string, tokens: StoredTokens | null): Promise<void> {
  const { [signIn]: former, ...others } = readAll();
  if (tokens === null) {
    if (former && 'kept_in' in former) await systemKeyring()?.remove(signIn);
    return writeSettings(FILE, others);
  }
  writeSettings(FILE, { ...others, [signIn]: await keep(signIn, tokens) });
}

async function keep(signIn: string, tokens: StoredTokens): Promise<Entry> {
  try {
    const keyring = systemKeyring();
    if (!keyring) return tokens;
    await keyring.write(signIn, JSON.stringify(tokens));
    return { kept_in: 'keyring' };
  } catch {
    // The keyring is locked or unattended: fall back to a file that only its owner can read.
    return tokens;
  }
}

/**
 * Runs exclusively among the commands of this person: a refresh token can be used once, and concurrent use
 * looks like theft to the provider.
 */
export async function withTokensLocked<T>(work: () => Promise<T>): Promise<T> {
  const lock = `${settingsFile(FILE)}.lock`;
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
  const end = performance.now() + LOCK_WAIT_MS;
  while (!(await take(lock))) {
    if (performance.now() > end) throw new Error(`another command holds ${lock}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  try {
    return await work();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error;
    const age = await stat(lock).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    // Its command was killed; no command holds the lock this long, not even one that waits for a keyring
    // password.
    if (age > LOCK_STALE_MS) await rm(lock, { recursive: true, force: true });
    return false;
  }
}

function readAll(): Record<string, Entry> {
  const file = settingsFile(FILE);
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return {};
    throw new Error(`Cannot read ${file}; delete it and sign in again`, { cause: error });
  }
}
