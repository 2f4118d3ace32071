import { readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureFolder, isErrno, readJson, removeDurable, writeDurable } from '../../../durable-file.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import type { HostOperation } from '../../host.ts';
import { download, hashFile } from './download.ts';
import { withHostLock } from './host-lock.ts';
import { digestHex, findLayer, locateImage, type ImageBlob } from './image-source.ts';

export interface ImageCache {
  /**
   * Runs `work` with the file of an image, downloaded if needed and kept in place until `work` ends. Its
   * bytes were hashed in this call, or in a call that it joined.
   */
  use<T>(digest: string, step: HostOperation, work: (file: string) => Promise<T>): Promise<T>;
}

export interface ImageCacheOptions {
  folder: string;
  sources: readonly string[];
  maxBytes: number;
}

interface Flight {
  file: Promise<string>;
  listeners: Set<HostOperation>;
  /** Ends when no caller needs the image. Downloaded bytes stay for the next call. */
  stop(): void;
}

/**
 * Images by digest. Concurrent requests for an image share one download; the least recently used images are
 * evicted when space is needed.
 */
export function openImageCache({ folder, sources, maxBytes }: ImageCacheOptions): ImageCache {
  const flights = new Map<string, Flight>();
  /** Number of current users of each image. */
  const wanted = new Map<string, number>();
  const fileOf = (digest: string): string => join(folder, digest.replace(':', '-'));

  async function fetchOrFind(digest: string, step: HostOperation): Promise<string> {
    await ensureFolder(folder);
    const file = fileOf(digest);
    return await withHostLock(file, step.signal, async () => {
      if (await isIntact(file, digest)) {
        await utimes(file, new Date(), new Date());
        return file;
      }
      await rm(file, { force: true });
      await fetchFrom(digest, file, step);
      return file;
    });
  }

  async function fetchFrom(digest: string, file: string, step: HostOperation): Promise<void> {
    if (sources.length === 0) {
      throw new TaskError('image_unavailable', 'no image source is configured on this host');
    }
    const misses: TaskError[] = [];
    for (const source of sources) {
      try {
        const blob = await locateImage(source, digest);
        const room = (bytes: number): Promise<void> => makeRoom(file, bytes);
        await download(blob, `${file}.part`, { maxBytes, makeRoom: room, step });
        await writeDurable(
          `${file}.json`,
          `${JSON.stringify({ sha256: blob.sha256, manifest: blob.manifest })}\n`,
        );
        await rename(`${file}.part`, file);
        return;
      } catch (error) {
        if (!(error instanceof TaskError)) throw error;
        misses.push(error);
      }
    }
    // A tampered image is a more useful error than a missing one.
    const worst = misses.find(({ code }) => code === 'image_digest_mismatch') ?? misses[0];
    throw new TaskError(worst?.code ?? 'image_unavailable', misses.map(({ message }) => message).join('; '));
  }

  /** Verify the digest on every use: disks corrupt data, and other processes can write to this folder. */
  async function isIntact(file: string, digest: string): Promise<boolean> {
    const known = await readJson<Pick<ImageBlob, 'sha256' | 'manifest'>>(`${file}.json`);
    if (!known) return false;
    const wanted = known.manifest === null ? digestHex(digest) : findLayer(known.manifest, digest);
    const { hash } = await hashFile(file);
    return known.sha256 === wanted && hash.digest('hex') === wanted;
  }

  /** Frees space for a file of this size by evicting the least recently used images. */
  async function makeRoom(file: string, bytes: number): Promise<void> {
    const names = (await readdir(folder)).filter((name) => /^sha256-[0-9a-f]{64}(\.part)?$/.test(name));
    const others = names.map((name) => join(folder, name)).filter((path) => !path.startsWith(file));
    const facts = await Promise.all(
      others.map(async (path) => ({
        path,
        ...(await stat(path).then(({ size, mtimeMs }) => ({ size, mtimeMs }), gone)),
      })),
    );
    const inUse = [...wanted.keys()].map(fileOf);
    let total = facts.reduce((sum, { size }) => sum + size, bytes);
    for (const { path, size } of facts.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (total <= maxBytes) return;
      if (inUse.some((used) => path.startsWith(used))) continue;
      await removeDurable(path);
      await removeDurable(`${path}.json`);
      total -= size;
    }
    if (total > maxBytes) {
      const detail = `images in use leave no room for one of ${bytes} bytes in a cache of ${maxBytes}`;
      throw new TaskError('host_disk_full', detail);
    }
  }

  function begin(digest: string): Flight {
    const listeners = new Set<HostOperation>();
    const stopping = new AbortController();
    const shared: HostOperation = {
      signal: stopping.signal,
      percent: (percent, message) => listeners.forEach((listener) => listener.percent(percent, message)),
    };
    const over = (): void => void (flights.get(digest) === flight && flights.delete(digest));
    const file = fetchOrFind(digest, shared).finally(over);
    // All callers may have given up by the time it fails.
    file.catch(() => undefined);
    const stop = (): void => {
      over();
      stopping.abort();
    };
    const flight: Flight = { file, listeners, stop };
    flights.set(digest, flight);
    return flight;
  }

  async function arrival(digest: string, step: HostOperation): Promise<string> {
    const flight = flights.get(digest) ?? begin(digest);
    flight.listeners.add(step);
    try {
      return await unlessAborted(flight.file, step.signal);
    } finally {
      flight.listeners.delete(step);
      if (flight.listeners.size === 0) flight.stop();
    }
  }

  return {
    async use(digest, step, work) {
      wanted.set(digest, (wanted.get(digest) ?? 0) + 1);
      try {
        return await work(await arrival(digest, step));
      } finally {
        const left = (wanted.get(digest) ?? 1) - 1;
        if (left > 0) wanted.set(digest, left);
        else wanted.delete(digest);
      }
    },
  };
}

/** Stops waiting for this caller, while other callers still wait. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function gone(error: unknown): { size: number; mtimeMs: number } {
  if (!isErrno(error, 'ENOENT')) throw error;
  return { size: 0, mtimeMs: 0 };
}
