import { readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureFolder, isErrno, readJson, removeDurable, writeDurable } from '../../../durable-file.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import type { Step } from '../../host.ts';
import { download, hashFile } from './download.ts';
import { hexOf, layerOf, locateImage, type ImageBlob } from './image-source.ts';

export interface ImageCache {
  /** The file of an image, fetched if need be. Its bytes were hashed in this very call, or by one it joined. */
  get(digest: string, step: Step): Promise<string>;
}

export interface ImageCacheOptions {
  folder: string;
  sources: readonly string[];
  maxBytes: number;
}

interface Flight {
  file: Promise<string>;
  listeners: Set<Step>;
}

/** Images by digest. However many ask for one, it is fetched once; the least recently used go when room is needed. */
export function openImageCache({ folder, sources, maxBytes }: ImageCacheOptions): ImageCache {
  const flights = new Map<string, Flight>();
  const fileOf = (digest: string): string => join(folder, digest.replace(':', '-'));

  async function fetchOrFind(digest: string, step: Step): Promise<string> {
    await ensureFolder(folder);
    const file = fileOf(digest);
    if (await isIntact(file, digest)) {
      await utimes(file, new Date(), new Date());
      return file;
    }
    await rm(file, { force: true });
    await fetchFrom(digest, file, step);
    await makeRoom(file);
    return file;
  }

  async function fetchFrom(digest: string, file: string, step: Step): Promise<void> {
    if (sources.length === 0) {
      throw new TaskError('image_unavailable', 'this host is told no source of images');
    }
    const misses: TaskError[] = [];
    for (const source of sources) {
      try {
        const blob = await locateImage(source, digest);
        await download(blob, `${file}.part`, { maxBytes, step });
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
    // What was tampered with says more than what was not there.
    const worst = misses.find(({ code }) => code === 'image_digest_mismatch') ?? misses[0];
    throw new TaskError(worst?.code ?? 'image_unavailable', misses.map(({ message }) => message).join('; '));
  }

  /** A digest is verified at every use: disks forget, and whoever can write here is not to be trusted either. */
  async function isIntact(file: string, digest: string): Promise<boolean> {
    const known = await readJson<Pick<ImageBlob, 'sha256' | 'manifest'>>(`${file}.json`);
    if (!known) return false;
    const wanted = known.manifest === null ? hexOf(digest) : layerOf(known.manifest, digest);
    const { hash } = await hashFile(file);
    return known.sha256 === wanted && hash.digest('hex') === wanted;
  }

  async function makeRoom(keep: string): Promise<void> {
    const files = (await readdir(folder)).filter((name) => /^sha256-[0-9a-f]{64}(\.part)?$/.test(name));
    const facts = await Promise.all(
      files.map(async (name) => {
        const path = join(folder, name);
        return { path, ...(await stat(path).then(({ size, mtimeMs }) => ({ size, mtimeMs }), gone)) };
      }),
    );
    let total = facts.reduce((sum, { size }) => sum + size, 0);
    for (const { path, size } of facts.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (total <= maxBytes) return;
      if (path === keep || [...flights.keys()].some((digest) => path.startsWith(fileOf(digest)))) continue;
      await removeDurable(path);
      await removeDurable(`${path}.json`);
      total -= size;
    }
  }

  return {
    async get(digest, step) {
      const running = flights.get(digest);
      if (running) {
        running.listeners.add(step);
        return await running.file;
      }
      const listeners = new Set([step]);
      // Whoever asked first may give up; the others still want it.
      const shared: Step = {
        signal: AbortSignal.timeout(24 * 3_600_000),
        percent: (percent, message) => listeners.forEach((listener) => listener.percent(percent, message)),
      };
      const file = fetchOrFind(digest, shared).finally(() => flights.delete(digest));
      flights.set(digest, { file, listeners });
      return await file;
    },
  };
}

function gone(error: unknown): { size: number; mtimeMs: number } {
  if (!isErrno(error, 'ENOENT')) throw error;
  return { size: 0, mtimeMs: 0 };
}
