import { link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { hexOf, type BlobBackend, type BlobPart } from './backend.ts';
import { asBlobError, BlobError } from './blob-error.ts';

const READ_BYTES = 262_144;

/** Content in a folder. Files appear by rename once they are on the disk, so a crash leaves no half of one. */
export class FolderBackend implements BlobBackend {
  readonly name = 'folder';
  readonly maxBytes = Number.MAX_SAFE_INTEGER;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async size(digest: string): Promise<number | null> {
    try {
      return (await stat(this.#pathOf(digest))).size;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** The file must be synced, and on the same file system. */
  async write(digest: string, file: string): Promise<void> {
    const path = this.#pathOf(digest);
    const placed = `${file}.placed`;
    try {
      const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rm(placed, { force: true });
      await link(file, placed);
      await rename(placed, path);
      // Renaming onto a link to the same file leaves both names.
      await rm(placed, { force: true });
      await syncFolders(dirname(path), made === undefined ? dirname(path) : this.#folder);
    } catch (error) {
      throw asBlobError(error);
    }
  }

  async open(digest: string, part?: BlobPart): Promise<Readable> {
    try {
      const handle = await open(this.#pathOf(digest));
      return handle.createReadStream({
        highWaterMark: READ_BYTES,
        ...(part ? { start: part.first, end: part.last } : {}),
      });
    } catch (error) {
      if (!isMissing(error)) throw error;
      throw new BlobError('missing', `${digest} is not in the folder`, { cause: error });
    }
  }

  async remove(digest: string): Promise<void> {
    await rm(this.#pathOf(digest), { force: true });
  }

  #pathOf(digest: string): string {
    const hex = hexOf(digest);
    return join(this.#folder, 'sha256', hex.slice(0, 2), hex.slice(2, 4), hex);
  }
}

/** A new name survives a power cut once its folder is synced. */
async function syncFolders(from: string, upTo: string): Promise<void> {
  for (let folder = from; ; folder = dirname(folder)) {
    const handle = await open(folder);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (folder === upTo || folder === dirname(folder)) return;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
