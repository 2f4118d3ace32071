import { realpath } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { AppRefusal } from '../../web/app-refusal.ts';

/** A path below the root folder. */
export interface ContentPath {
  /** As clients write it: without a slash at either end; the root is empty. */
  path: string;
  name: string;
  /** In the file system. */
  file: string;
}

const MAX_LENGTH = 1000;

/**
 * Refuses what leads out of the root folder, also over a symbolic link, and hidden files. `path` is already decoded, so
 * `%2e%2e` has become what it means.
 */
export async function resolvePath(root: string, path: string): Promise<ContentPath> {
  const parts = path.split('/').filter((part) => part !== '');
  const isWrong = parts.some(
    (part) => part.startsWith('.') || /[\\\0]/.test(part) || Buffer.byteLength(part) > 255,
  );
  if (isWrong || path.length > MAX_LENGTH) throw notFound(path);
  const file = join(root, ...parts);
  const real = await realpathOfExisting(file);
  const realRoot = await realpath(root);
  if (real !== realRoot && !real.startsWith(realRoot + sep)) throw notFound(path);
  return { path: parts.join('/'), name: parts.at(-1) ?? '', file };
}

export function notFound(path: string): AppRefusal {
  return new AppRefusal(404, 'not_found', `There is no ${path.slice(0, 200) || 'such file'}.`);
}

/** Of the file, or of the nearest folder above it that exists. */
async function realpathOfExisting(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch {
    const parent = dirname(file);
    if (parent === file) return file;
    return join(await realpathOfExisting(parent), basename(file));
  }
}
