import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLibraryLinks } from './embedded/binaries.ts';
import { findPostmaster } from './embedded/postmaster-file.ts';
import { isPidInUse, isRunning } from './embedded/processes.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import type { EmbeddedPostgres } from './embedded-postgres.ts';

const settings = { fsync: 'off', shared_buffers: '16MB', max_connections: '10' };
const runsAsRoot = process.getuid?.() === 0;
let home: string;
let dataDir: string;
let server: EmbeddedPostgres | undefined;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gpuaas postgres '));
  if (runsAsRoot) await chmod(home, 0o711);
  dataDir = join(home, 'data');
});

afterEach(async () => {
  await server?.stop();
  server = undefined;
  await rm(home, { recursive: true, force: true });
});

async function start(): Promise<EmbeddedPostgres> {
  server = await startEmbeddedPostgres({ dataDir, settings });
  return server;
}

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return Object.values<unknown>((await client.query<Record<string, unknown>>(sql)).rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}

async function mode(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

test('a fresh folder gets a private UTF-8 database that data survives in', async () => {
  const first = await start();
  expect(first.adopted).toBe(false);
  expect(await ask(first.url, 'show server_encoding')).toBe('UTF8');
  expect(await ask(first.url, 'show listen_addresses')).toBe('127.0.0.1');
  expect(await ask(first.url, 'show unix_socket_directories')).toBe('');
  expect(await ask(first.url, 'show fsync')).toBe('off');
  expect(await mode(join(dataDir, 'postgres.password'))).toBe(0o600);
  expect(await mode(join(dataDir, 'postgres'))).toBe(0o700);
  await ask(first.url, 'create database kept');
  await first.stop();

  const second = await start();
  expect(second.adopted).toBe(false);
  expect(await ask(second.urlFor('kept'), 'select current_database()')).toBe('kept');
});

test('a wrong password is refused', async () => {
  const { url } = await start();
  await expect(ask(url.replace(/:[^:@]+@/, ':wrong@'), 'select 1')).rejects.toThrow(
    /password authentication failed/,
  );
});

test('stop leaves no process and may be called again', async () => {
  const running = await start();
  const found = await findPostmaster(join(dataDir, 'postgres'));
  await Promise.all([running.stop(), running.stop()]);
  await running.stop();
  expect(await isRunning(found?.pid ?? 0)).toBe(false);
  expect(await readdir(dataDir)).not.toContain('postgres.supervisor');
});

test('a second platform on the same folder is refused while the first runs', async () => {
  const first = await start();
  await expect(startEmbeddedPostgres({ dataDir, settings })).rejects.toMatchObject({ code: 'in_use' });
  expect(await ask(first.url, 'select 1')).toBe(1);
});

test('the server of a killed platform process is adopted and can be stopped', async () => {
  const script = join(home, 'platform.mjs');
  const module = join(import.meta.dirname, 'embedded-postgres.ts');
  await writeFile(
    script,
    `import { startEmbeddedPostgres } from ${JSON.stringify(module)};
     const server = await startEmbeddedPostgres(${JSON.stringify({ dataDir, settings })});
     console.log(server.url);
     setInterval(() => {}, 1000);`,
  );
  const platform = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(platform.stdout, 'data')) as [Buffer];
  platform.kill('SIGKILL');
  await once(platform, 'exit');

  const adopted = await start();
  expect(adopted.adopted).toBe(true);
  expect(adopted.url).toBe(line.toString().trim());
  expect(await ask(adopted.url, 'select 1')).toBe(1);
  const found = await findPostmaster(join(dataDir, 'postgres'));
  await adopted.stop();
  expect(await isRunning(found?.pid ?? 0)).toBe(false);
});

test('a killed server is restarted immediately and recovers committed data', async () => {
  const first = await start();
  await ask(first.url, 'create database committed');
  const found = await findPostmaster(join(dataDir, 'postgres'));
  process.kill(found?.pid ?? 0, 'SIGKILL');
  await first.stop();

  const second = await start();
  expect(await ask(second.urlFor('committed'), 'select 1')).toBe(1);
});

test('a lock file whose pid belongs to another program does not prevent a start', async () => {
  await (await start()).stop();
  const lock = join(dataDir, 'postgres', 'postmaster.pid');
  await writeFile(lock, `${process.ppid}\n${join(dataDir, 'postgres')}\n0\n5432\n\n127.0.0.1\n\nready\n`);
  expect(isPidInUse(process.ppid)).toBe(true);
  expect((await start()).adopted).toBe(false);
});

test('a database of another major version is refused untouched', async () => {
  await mkdir(join(dataDir, 'postgres'), { recursive: true });
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '15\n');
  await expect(start()).rejects.toMatchObject({ code: 'other_major_version' });
  expect(await readdir(join(dataDir, 'postgres'))).toEqual(['PG_VERSION']);
});

test('foreign files in the place of the database are refused', async () => {
  await mkdir(join(dataDir, 'postgres'), { recursive: true });
  await writeFile(join(dataDir, 'postgres', 'thesis.txt'), 'precious');
  await expect(start()).rejects.toMatchObject({ code: 'not_a_cluster' });
});

test('an initdb that was killed half-way is cleared away', async () => {
  await mkdir(join(dataDir, 'postgres.init-1', 'data'), { recursive: true });
  if (runsAsRoot) await chmod(dataDir, 0o711);
  await start();
  expect((await readdir(dataDir)).filter((name) => name.includes('.init-'))).toEqual([]);
});

test('a failed start says what Postgres said and frees the folder', async () => {
  await (await start()).stop();
  const broken = startEmbeddedPostgres({ dataDir, settings: { ...settings, shared_buffers: 'plenty' } });
  await expect(broken).rejects.toMatchObject({
    code: 'start_failed',
    message: expect.stringContaining('shared_buffers') as string,
  });
  await start();
});

test('a lost password file is reported, not replaced', async () => {
  await (await start()).stop();
  await unlink(join(dataDir, 'postgres.password'));
  await expect(start()).rejects.toMatchObject({ code: 'password_missing' });
});

test('a start that is called off leaves no server, and the next one works', async () => {
  await (await start()).stop();
  const calledOff = new AbortController();
  const starting = startEmbeddedPostgres({ dataDir, settings, signal: calledOff.signal });
  const refused = expect(starting).rejects.toMatchObject({ code: 'cancelled' });
  const lock = join(dataDir, 'postgres', 'postmaster.pid');
  while (!(await stat(lock).catch(() => null))) await pause(2);
  calledOff.abort();
  await refused;
  expect(await findPostmaster(join(dataDir, 'postgres'))).toBeUndefined();
  await start();
});

test('a first start that is called off leaves no half-made database', async () => {
  const calledOff = new AbortController();
  const starting = startEmbeddedPostgres({ dataDir, settings, signal: calledOff.signal });
  const refused = expect(starting).rejects.toMatchObject({ code: 'cancelled' });
  while (!(await readdir(dataDir).catch(() => [])).some((name) => name.includes('.init-'))) await pause(2);
  calledOff.abort();
  await refused;
  expect(await readdir(dataDir)).toEqual(['postgres.password']);
});

test('a stop that takes too long can be cut short, and what was committed is there again', async () => {
  const first = await start();
  await ask(first.url, 'create database committed');
  const found = await findPostmaster(join(dataDir, 'postgres'));
  await Promise.all([first.stop(), first.stopImmediately()]);
  expect(await isRunning(found?.pid ?? 0)).toBe(false);
  expect(await readdir(dataDir)).not.toContain('postgres.supervisor');
  expect(await ask((await start()).urlFor('committed'), 'select 1')).toBe(1);
});

/** A separate disk for the data folder. */
async function smallDisk(size: string): Promise<{ remove(): void }> {
  await mkdir(dataDir);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0711`, 'gpuaas-test', dataDir]);
  return { remove: () => execFileSync('umount', ['--lazy', dataDir]) };
}

const mayMount = runsAsRoot && process.platform === 'linux';

test('a disk too small for a database is named, and nothing half-made stays on it', async (ctx) => {
  if (!mayMount) return ctx.skip('needs root to mount a small disk');
  const disk = await smallDisk('20m');
  try {
    await expect(start()).rejects.toMatchObject({
      code: 'disk_full',
      message: expect.stringContaining(`no space left for the database on the disk of ${dataDir}`) as string,
    });
    expect((await readdir(dataDir)).filter((name) => name.startsWith('postgres.init'))).toEqual([]);
  } finally {
    disk.remove();
  }
});

test('a disk that has filled up is named, and with space again nothing is lost', async (ctx) => {
  if (!mayMount) return ctx.skip('needs root to mount a small disk');
  const disk = await smallDisk('160m');
  try {
    const first = await start();
    await ask(first.url, 'create database kept');
    await first.stop();
    const filler = join(dataDir, 'filler');
    await writeFile(filler, Buffer.alloc(200 * 1024 * 1024)).catch(() => undefined);
    await expect(start()).rejects.toMatchObject({ code: 'disk_full' });
    await unlink(filler);
    expect(await ask((await start()).urlFor('kept'), 'select 1')).toBe(1);
    await server?.stop();
  } finally {
    disk.remove();
  }
});

test('for root it runs under a service account, elsewhere when only root may enter the data folder', async (ctx) => {
  if (!runsAsRoot || process.platform !== 'linux') return ctx.skip('needs root on Linux');
  await chmod(home, 0o700);
  let elsewhere: string | undefined;
  try {
    const first = await start();
    elsewhere = (await readFile(join(dataDir, 'postgres.location'), 'utf8')).trim();
    expect(elsewhere.startsWith(home)).toBe(false);
    expect(await mode(elsewhere)).toBe(0o700);
    const { pid } = (await findPostmaster(elsewhere))!;
    expect((await stat(`/proc/${pid}`)).uid).not.toBe(0);
    await ask(first.url, 'create database kept');
    await first.stop();
    expect(await ask((await start()).urlFor('kept'), 'select 1')).toBe(1);
    expect(await readdir(dataDir)).not.toContain('postgres');
  } finally {
    await server?.stop();
    if (elsewhere) await rm(elsewhere, { recursive: true, force: true });
  }
});

test('binaries that were installed without scripts run', async (ctx) => {
  if (process.platform !== 'linux') return ctx.skip('needs GNU cp and find');
  const copy = join(home, 'native');
  await mkdir(copy);
  for (const part of ['bin', 'lib', 'pg-symlinks.json'])
    execFileSync('cp', ['-r', join(nativeFolder(), part), copy]);
  execFileSync('find', [copy, '-type', 'l', '-delete']);
  const version = (): string =>
    execFileSync(join(copy, 'bin', 'postgres'), ['--version'], { stdio: 'pipe' }).toString();
  expect(version).toThrow(/error while loading shared libraries/);
  await createLibraryLinks(copy);
  expect(version()).toContain('PostgreSQL');
});

function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
}

test('missing library links are created, existing ones left alone', async () => {
  const native = nativeFolder();
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  const copy = join(home, 'binaries');
  await mkdir(join(copy, 'lib'), { recursive: true });
  await cp(join(native, 'pg-symlinks.json'), join(copy, 'pg-symlinks.json'));
  await writeFile(join(copy, 'lib', 'libpq.so'), 'already here');

  await createLibraryLinks(copy);
  await createLibraryLinks(copy);
  expect((await readdir(join(copy, 'lib'))).length).toBe(links.length);
  expect(await readFile(join(copy, 'lib', 'libpq.so'), 'utf8')).toBe('already here');
  for (const { source, target } of links.filter((link) => basename(link.target) !== 'libpq.so')) {
    expect(await readlink(join(copy, 'lib', basename(target)))).toBe(basename(source));
  }
});
