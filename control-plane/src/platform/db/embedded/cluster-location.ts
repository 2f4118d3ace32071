import { createHash } from 'node:crypto';
import { access, chmod, constants, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError, errorCode } from './errors.ts';
import { canTraverse, findServiceUser, runningAsRoot } from './service-user.ts';
import type { ServiceUser } from './service-user.ts';
import { SHARED_ROOT, createSharedRoot } from './shared-root.ts';

export type ClusterLocation = { folder: string; user: ServiceUser | undefined };

/** Creates the platform's data folder if needed and returns its real path. */
export async function openDataDir(dataDir: string): Promise<string> {
  try {
    const created = await mkdir(dataDir, { recursive: true });
    const real = await realpath(dataDir);
    // Root opens the way to the service user's cluster; every other file in the folder is 0600.
    if (created !== undefined) await chmod(real, runningAsRoot() ? 0o711 : 0o700);
    await access(real, constants.W_OK | constants.X_OK);
    return real;
  } catch (cause) {
    throw new EmbeddedPostgresError(
      'not_accessible',
      `The data folder ${dataDir} cannot be written (${errorCode(cause) ?? String(cause)}).`,
      { cause },
    );
  }
}

/** Decides where the cluster lives and which account runs it. */
export async function locateCluster(dataDir: string): Promise<ClusterLocation> {
  const inside = join(dataDir, 'postgres');
  if (!runningAsRoot()) return { folder: inside, user: undefined };

  const note = join(dataDir, 'postgres.location');
  const noted = (await readFile(note, 'utf8').catch(() => '')).trim();
  const existing = await ownerOf(noted || inside);
  const user = existing ?? (await findServiceUser());
  if (noted) return { folder: noted, user };

  if (await makeEnterable(user, dataDir)) return { folder: inside, user };
  if (existing) {
    throw new EmbeddedPostgresError(
      'not_accessible',
      `The database in ${inside} belongs to uid ${existing.uid}, which can no longer reach it: ` +
        'a folder above it lost its x permission. Give it back (chmod o+x) and start again.',
    );
  }
  await createSharedRoot();
  const folder = join(SHARED_ROOT, createHash('sha256').update(dataDir).digest('hex').slice(0, 12));
  await writeFile(note, `${folder}\n`);
  return { folder, user };
}

/** A cluster created by an ordinary user and later started by root must keep running as its owner. */
async function ownerOf(folder: string): Promise<ServiceUser | undefined> {
  const found = await stat(folder).catch(() => undefined);
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : undefined;
}

async function makeEnterable(user: ServiceUser, dataDir: string): Promise<boolean> {
  if (await canTraverse(user, dataDir)) return true;
  if (!(await canTraverse(user, dirname(dataDir)))) return false;
  await chmod(dataDir, 0o711);
  return canTraverse(user, dataDir);
}
