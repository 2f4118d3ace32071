import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandError, type RunCommand } from '../commands.ts';
import type { HostFiles } from '../host-files.ts';
import { readMounts } from '../inventory/mounts.ts';

/** File systems without stored files, or without files of users. */
const NO_FILES =
  /^(proc|sysfs|cgroup2?|devpts|securityfs|debugfs|tracefs|configfs|bpf|pstore|autofs|binfmt_misc|fusectl|efivarfs|nsfs|squashfs|iso9660|nfs4?|ceph|lustre|beegfs)$/;
const SEARCH_MS = 600_000;

/** Processes that run as the user, or could become it again. */
export function processesOf(uid: number): { pid: number; command: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const status = read(join('/proc', name, 'status'));
    const uids = /^Uid:\s*(.*)$/m.exec(status)?.[1]?.split(/\s+/).map(Number) ?? [];
    if (!uids.includes(uid) || /^State:\s*Z/m.test(status)) return [];
    return [{ pid: Number(name), command: /^Name:\s*(.*)$/m.exec(status)?.[1] ?? 'process' }];
  });
}

export interface IpcObject {
  kind: 'shm' | 'msg' | 'sem';
  id: number;
}

const ID_COLUMN = { shm: 'shmid', msg: 'msqid', sem: 'semid' } as const;

/** System V objects outlive the process that created them. */
export function listIpcObjects(uid: number): IpcObject[] {
  return (['shm', 'msg', 'sem'] as const).flatMap((kind) => {
    const [head, ...rows] = read(`/proc/sysvipc/${kind}`).trim().split('\n');
    const columns = head?.trim().split(/\s+/) ?? [];
    const cells = rows.map((row) => row.trim().split(/\s+/));
    const at = (name: string): number => columns.indexOf(name);
    return cells
      .filter((row) => [row[at('uid')], row[at('cuid')]].includes(String(uid)))
      .map((row) => ({ kind, id: Number(row[at(ID_COLUMN[kind])]) }));
  });
}

/**
 * Removes the user's files on every local file system; files of other users in its folders stay and are
 * reported.
 */
export async function deleteFilesOf(
  run: RunCommand,
  files: HostFiles,
  { uid, since }: { uid: number; since: string },
  signal: AbortSignal,
): Promise<void> {
  // Files older than the lease do not belong to it. find deletes them directly: a name may contain anything,
  // even the path of another file.
  const words = [
    ...localMounts(files),
    '-xdev',
    '-ignore_readdir_race',
    '-depth',
    '-uid',
    String(uid),
    '-newerct',
    since,
    '-delete',
  ];
  await run('find', words, { timeoutMs: SEARCH_MS, signal });
}

/** Paths may vanish while find reads them, and then it skips the rest of their folder: it searches again. */
const SEARCHES = 5;
const VANISHED = /: No such file or directory$/;

/** One remaining file of the user, or the reason why the search was not conclusive. */
export async function findLeftoverFile(
  run: RunCommand,
  files: HostFiles,
  uid: number,
): Promise<string | null> {
  const test = ['-xdev', '-ignore_readdir_race', '-uid', String(uid), '-print', '-quit'];
  for (let search = 1; ; search += 1) {
    const result = await run('find', [...localMounts(files), ...test], { timeoutMs: SEARCH_MS });
    if (result === null) return 'files: find is not installed';
    if (result.stdout !== '') return `file ${result.stdout.trim()}`;
    if (result.code === 0) return null;
    const complaints = result.stderr.trim().split('\n');
    if (search === SEARCHES || !complaints.every((line) => VANISHED.test(line)))
      return `files: ${commandError(result)}`;
  }
}

function localMounts(files: HostFiles): string[] {
  // A mount hidden by another has no path: its files are unreachable, and find would only complain.
  const local = readMounts(files).filter(
    ({ fsType, mountPoint }) => !NO_FILES.test(fsType) && existsSync(mountPoint),
  );
  return [...new Set(local.map(({ mountPoint }) => mountPoint))];
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
