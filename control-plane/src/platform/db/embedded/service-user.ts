import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EmbeddedPostgresError } from './errors.ts';

/** The account that Postgres runs under when the platform itself runs as root. */
export type ServiceUser = { uid: number; gid: number };

export function runningAsRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Postgres refuses to run as root, and initdb refuses a uid that has no passwd entry. */
export async function findServiceUser(): Promise<ServiceUser> {
  const entries = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const wanted of ['postgres', 'nobody']) {
    const [, , uid, gid] = entries.find(([name]) => name === wanted) ?? [];
    // macOS writes the uid of `nobody` as -2.
    if (uid && gid) return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
  }
  throw new EmbeddedPostgresError(
    'no_service_user',
    'Postgres cannot run as root and neither "postgres" nor "nobody" is in /etc/passwd. ' +
      'Run the platform as an ordinary user, or set DATABASE_URL to a Postgres of your own.',
  );
}

/** Whether `user` can enter `folder`, judged by the mode bits of the folder and all its ancestors. */
export async function canTraverse(user: ServiceUser, folder: string): Promise<boolean> {
  for (let current = folder; ; current = dirname(current)) {
    const { mode, uid, gid } = await stat(current);
    const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
    if (((mode >> shift) & 0o1) === 0) return false;
    if (dirname(current) === current) return true;
  }
}
