import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** What a sign-in at one platform left behind. */
export interface KeptTokens {
  issuer: string;
  client_id: string;
  access_token: string;
  refresh_token: string | null;
  /** RFC 3339; when the access token ends. */
  expires_at: string;
}

type File = Record<string, KeptTokens>;

const LOCK_WAIT_MS = 15_000;
const LOCK_STALE_MS = 30_000;

function path(): string {
  const config = process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  return join(config, 'gpuaas', 'tokens.json');
}

export async function readTokens(url: string): Promise<KeptTokens | null> {
  return (await readAll())[url] ?? null;
}

/** Null forgets them. Nobody but the owner can read the file. */
export async function writeTokens(url: string, tokens: KeptTokens | null): Promise<void> {
  const { [url]: _former, ...others } = await readAll();
  const file = path();
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.${process.pid}.partial`;
  await writeFile(partial, `${JSON.stringify(tokens ? { ...others, [url]: tokens } : others, null, 2)}\n`, {
    mode: 0o600,
  });
  await chmod(partial, 0o600);
  await rename(partial, file);
}

/**
 * Runs alone among the commands of this person: a refresh token can be used once, and two commands that use the same
 * one at the same time look to the provider like theft.
 */
export async function withTokensLocked<T>(work: () => Promise<T>): Promise<T> {
  const lock = `${path()}.lock`;
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
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const age = await stat(lock).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    // Its command was killed; nothing it does takes this long.
    if (age > LOCK_STALE_MS) await rm(lock, { recursive: true, force: true });
    return false;
  }
}

async function readAll(): Promise<File> {
  try {
    return JSON.parse(await readFile(path(), 'utf8')) as File;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new Error(`${path()} cannot be read; delete it and sign in again`, { cause: error });
  }
}
