import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasErrorCode } from '@gpuaas/contracts/error-code';
import { last, present } from '../present.ts';

/** Versions of the platform key. The newest seals; every stored one opens. */
export interface KeyVersions {
  newest(): { version: number; key: Buffer };
  find(version: number): Buffer | null;
}

/** A line for each version: 32 bytes in hex, or this for a retired key. */
const RETIRED = '-';
const LONGEST = 255;
/** How long a process may keep sealing with the previous version. */
const FRESH_MS = 15_000;
/** Values from before there were versions begin with any byte; they must not cost a read of the file each. */
const PAUSE_MS = 1000;

/** `platform.key`, created at the first start. A running process notices a new version without a restart. */
export class KeyFile implements KeyVersions {
  readonly #file: string;
  #keys: (Buffer | null)[];
  #readAt = performance.now();

  private constructor(file: string, keys: (Buffer | null)[]) {
    this.#file = file;
    this.#keys = keys;
  }

  static async open(file: string): Promise<KeyFile> {
    await mkdir(dirname(file), { recursive: true });
    try {
      const handle = await open(file, 'wx', 0o600);
      await handle.writeFile(newLine());
      await handle.sync();
      await handle.close();
    } catch (error) {
      if (!hasErrorCode(error, 'EEXIST')) throw error;
    }
    await chmod(file, 0o600);
    return new KeyFile(file, parseKeys(await readFile(file, 'utf8')));
  }

  newest(): { version: number; key: Buffer } {
    if (performance.now() - this.#readAt > FRESH_MS) this.#readAgain();
    return { version: this.#keys.length, key: present(this.#keys.at(-1), 'key') };
  }

  find(version: number): Buffer | null {
    const known = version >= 1 && version <= this.#keys.length;
    if (!known && performance.now() - this.#readAt > PAUSE_MS) this.#readAgain();
    return this.#keys[version - 1] ?? null;
  }

  /** An unreadable file removes nothing: the versions in memory still open values. */
  #readAgain(): void {
    this.#readAt = performance.now();
    try {
      this.#keys = parseKeys(readFileSync(this.#file, 'utf8'));
    } catch {
      // The next check finds it again, or the next start reports the fault.
    }
  }
}

/** Adds a version, which seals from now on. Returns its number. */
export async function addKeyVersion(file: string): Promise<number> {
  const text = await readFile(file, 'utf8');
  const versions = parseKeys(text).length;
  if (versions === LONGEST) throw new RangeError('there is no room for another version of the platform key');
  await replace(file, `${text.trimEnd()}\n${newLine()}`);
  return versions + 1;
}

/** Deletes every version but the newest. Values sealed with them can never be opened again. */
export async function retireOldVersions(file: string): Promise<void> {
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  await replace(file, `${[...lines.slice(0, -1).map(() => RETIRED), last(lines, 'line')].join('\n')}\n`);
}

/** Written atomically: a reader sees the old file or the new one. */
async function replace(file: string, text: string): Promise<void> {
  const next = `${file}.next`;
  await rm(next, { force: true });
  const handle = await open(next, 'wx', 0o600);
  await handle.writeFile(text);
  await handle.sync();
  await handle.close();
  await rename(next, file);
}

function newLine(): string {
  return `${randomBytes(32).toString('hex')}\n`;
}

function parseKeys(text: string): (Buffer | null)[] {
  const lines = text.trim().split('\n');
  const keys = lines.map((line) => {
    if (line.trim() === RETIRED) return null;
    if (!/^[0-9a-f]{64}$/i.test(line.trim()))
      throw new RangeError('the platform key must be 32 bytes in hex');
    return Buffer.from(line.trim(), 'hex');
  });
  if (keys.length > LONGEST || !keys.at(-1)) throw new RangeError('the platform key has no newest version');
  return keys;
}

/** Versions that stay unchanged. */
export function fixedKeys(...keys: readonly Buffer[]): KeyVersions {
  return {
    newest: () => ({ version: keys.length, key: last(keys, 'key') }),
    find: (version) => keys[version - 1] ?? null,
  };
}
