import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * The machine's files below a root: `/` in production, a built tree in tests. Unreadable files count as
 * absent.
 */
export interface HostFiles {
  /** Trimmed: NVMe pads its strings. */
  text(path: string): string | null;
  integer(path: string): number | null;
  bytes(path: string, count: number): Buffer | null;
  list(path: string): string[];
  exists(path: string): boolean;
  /** The name of the file or folder at the end of a link. */
  linkName(path: string): string | null;
  /** The path with all links followed, as seen from the root. */
  real(path: string): string | null;
}

export function openHostFiles(root: string): HostFiles {
  const base = realpathSync(root).replace(/\/$/, '');
  const at = (path: string): string => join(base, '/', path);

  const files: HostFiles = {
    text: (path) => attempt(() => readFileSync(at(path), 'utf8').trim()),
    integer(path) {
      const text = files.text(path);
      return text !== null && /^-?\d+$/.test(text) ? Number(text) : null;
    },
    bytes: (path, count) =>
      attempt(() => {
        const file = openSync(at(path), 'r');
        try {
          const buffer = Buffer.alloc(count);
          return buffer.subarray(0, readSync(file, buffer, 0, count, 0));
        } finally {
          closeSync(file);
        }
      }),
    list: (path) => (attempt(() => readdirSync(at(path))) ?? []).toSorted(),
    exists: (path) => existsSync(at(path)),
    linkName: (path) => attempt(() => basename(realpathSync(at(path)))),
    real: (path) =>
      attempt(() => {
        const real = realpathSync(at(path));
        return real.startsWith(`${base}/`) ? real.slice(base.length) : null;
      }),
  };
  return files;
}

/** Attributes of a device that is going away or is not ready answer with all kinds of errors. */
function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}
