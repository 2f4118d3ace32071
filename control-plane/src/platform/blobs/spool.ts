import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
import { newId } from '../ids.ts';
import { asBlobError } from './blob-error.ts';

export interface Spooled {
  file: string;
  digest: string;
  bytes: number;
}

/** Where content waits until its digest is known. Each process of a machine uses its own files there. */
export class Spool {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Writes the content to a synced file. `admit` throws when it has become too large. */
  async receive(
    source: AsyncIterable<Uint8Array> | Uint8Array,
    admit: (bytes: number) => void,
    signal: AbortSignal,
  ): Promise<Spooled> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = join(this.#folder, newId());
    const handle = await open(file, 'wx', 0o600);
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      const chunks: AsyncIterable<Uint8Array> = addAbortSignal(
        signal,
        Readable.from(source instanceof Uint8Array ? [source] : source),
      );
      for await (const chunk of chunks) {
        bytes += chunk.byteLength;
        admit(bytes);
        hash.update(chunk);
        await handle.appendFile(chunk);
      }
      await handle.sync();
      await handle.close();
    } catch (error) {
      await handle.close().catch(() => undefined);
      await this.discard({ file });
      throw asBlobError(error);
    }
    return { file, digest: `sha256:${hash.digest('hex')}`, bytes };
  }

  async discard({ file }: Pick<Spooled, 'file'>): Promise<void> {
    await rm(file, { force: true });
    await rm(`${file}.placed`, { force: true });
  }

  /** Removes what killed processes left behind. */
  async sweep(before: Date): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names) {
      const file = join(this.#folder, name);
      const found = await stat(file).catch(() => null);
      if (found && found.mtime < before) await rm(file, { force: true });
    }
  }
}
