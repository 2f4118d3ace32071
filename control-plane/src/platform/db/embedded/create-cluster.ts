import { chown, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Binaries } from './binaries.ts';
import type { ClusterLocation } from './cluster-location.ts';
import { startCancelled, EmbeddedPostgresError, errorCode } from './errors.ts';
import { runCommand } from './run-command.ts';

/** Retries, because the initdb of a killed start may still be writing there. */
const REMOVE = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 };

/** Whether a cluster exists; throws for one that these binaries must not touch. */
export async function checkCluster(folder: string, major: string): Promise<boolean> {
  const entries = await readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw new EmbeddedPostgresError('not_accessible', `The database folder ${folder} cannot be read.`, {
      cause: error,
    });
  });
  if (entries.length === 0) return false;
  const found = (await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
  if (!found) {
    throw new EmbeddedPostgresError(
      'not_a_cluster',
      `${folder} holds files but no Postgres database. Move them away or choose another data folder.`,
    );
  }
  if (found !== major) {
    throw new EmbeddedPostgresError(
      'other_major_version',
      `The database in ${folder} was made by Postgres ${found}; this release carries Postgres ${major}. ` +
        'Dump it with the old release and load it into a new data folder.',
    );
  }
  return true;
}

/** Runs initdb beside the final place and renames, so that a kill in between leaves nothing incomplete. */
export async function createCluster(
  { folder, user }: ClusterLocation,
  binaries: Binaries,
  password: string,
  options: { sync: boolean; signal?: AbortSignal | undefined },
): Promise<void> {
  await removeUnfinished(folder);
  const workshop = `${folder}.init-${process.pid}`;
  const passwordFile = join(workshop, 'password');
  await mkdir(workshop, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user) {
    await chown(passwordFile, user.uid, user.gid);
    await chown(workshop, user.uid, user.gid);
  }
  try {
    const made = join(workshop, 'data');
    const args = [
      `--pgdata=${made}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--locale=C.UTF-8',
      '--auth=scram-sha-256',
      ...(options.sync ? [] : ['--no-sync']),
    ];
    const { exitCode, output } = await runCommand(binaries.initdb, args, user, options.signal).catch(
      (cause: unknown) => {
        throw new EmbeddedPostgresError(...spawnFailure(binaries.initdb, cause));
      },
    );
    if (options.signal?.aborted) throw startCancelled();
    if (exitCode !== 0) {
      const lastLines = output.trimEnd().split('\n').slice(-12).join('\n');
      throw new EmbeddedPostgresError('initdb_failed', `Could not create the database:\n${lastLines}`);
    }
    await rename(made, folder);
  } finally {
    await rm(workshop, REMOVE);
  }
}

/** The arguments of the error for a program that could not even be started. */
export function spawnFailure(
  program: string,
  cause: unknown,
): ConstructorParameters<typeof EmbeddedPostgresError> {
  if (errorCode(cause) === 'ENOENT') {
    // The file exists; the loader it was linked for is missing.
    const message = `${program} cannot run here: it needs glibc. Set DATABASE_URL to a Postgres of your own.`;
    return ['unsupported_platform', message, { cause }];
  }
  return ['start_failed', `${program} cannot be started (${errorCode(cause) ?? String(cause)}).`, { cause }];
}

async function removeUnfinished(folder: string): Promise<void> {
  const prefix = `${basename(folder)}.init-`;
  for (const name of await readdir(dirname(folder))) {
    if (name.startsWith(prefix)) await rm(join(dirname(folder), name), REMOVE);
  }
}
