import { basename, dirname, join, resolve } from 'node:path';
import type { HostFiles } from '../../linux/host-files.ts';
import type { HostTree } from './host-tree.ts';
import { layHostTree } from './write-host-tree.ts';

/** The files of a machine without a disk to write them to. Fleets of hundreds of hosts use it. */
export function openMemoryFiles(host: HostTree): HostFiles {
  const contents = new Map<string, string | Buffer>();
  const links = new Map<string, string>();
  const folders = new Map<string, Set<string>>();

  function add(path: string): void {
    const parent = dirname(path);
    const siblings = folders.get(parent);
    if (siblings) return void siblings.add(basename(path));
    folders.set(parent, new Set([basename(path)]));
    if (parent !== path) add(parent);
  }

  layHostTree(
    {
      file(path, content) {
        contents.set(path, Buffer.isBuffer(content) ? content : `${content}\n`);
        add(path);
      },
      link(path, target) {
        links.set(path, resolve(dirname(path), target));
        add(path);
      },
    },
    host,
  );

  const known = new Map<string, string | null>([['/', '/']]);

  /** The path with all links followed, or null when nothing is there. */
  function real(path: string): string | null {
    const earlier = known.get(path);
    if (earlier !== undefined) return earlier;
    const parent = real(dirname(path));
    const at = parent === null ? null : join(parent, basename(path));
    const target = at === null ? undefined : links.get(at);
    const found = target === undefined ? at : real(target);
    const there = found !== null && (contents.has(found) || folders.has(found)) ? found : null;
    known.set(path, there);
    return there;
  }

  const content = (path: string): string | Buffer | undefined => contents.get(real(path) ?? '');
  const text = (path: string): string | null => content(path)?.toString().trim() ?? null;
  return {
    text,
    integer(path) {
      const value = text(path);
      return value !== null && /^-?\d+$/.test(value) ? Number(value) : null;
    },
    bytes(path, count) {
      const found = content(path);
      return found === undefined ? null : Buffer.from(found).subarray(0, count);
    },
    list: (path) => [...(folders.get(real(path) ?? '') ?? [])].toSorted(),
    exists: (path) => real(path) !== null,
    linkName(path) {
      const found = real(path);
      return found === null ? null : basename(found);
    },
    real,
  };
}
