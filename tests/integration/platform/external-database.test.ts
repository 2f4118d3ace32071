import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findServiceUser } from '@gpuaas/control-plane/platform/db/embedded/service-user';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, release, waitForState } from '../../harness/allocations/allocations.ts';
import { eventually } from '../../harness/eventually.ts';
import { freePort } from '../../harness/processes/free-port.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

/** The oldest server that the system's packages offer. */
const binaries = globSync('/usr/lib/postgresql/*/bin')
  .map((folder) => ({ folder, major: Number(folder.split('/').at(-2)) }))
  .filter(({ major }) => major >= 15)
  .toSorted((a, b) => a.major - b.major)[0];

describe.skipIf(!binaries)('an external PostgreSQL (needs postgresql)', () => {
  let url: string;
  let platform: TestPlatform;
  const stops: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    url = await startServer(binaries!.folder);
    platform = await startTestPlatform({ nodes: 1, databaseUrl: url });
    stops.push(() => platform.stop());
  });
  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop();
  });

  it('is not the embedded one', async () => {
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
    await client.end();
    expect(Math.floor(Number(rows[0]?.server_version_num) / 10_000)).toBe(binaries!.major);
  });

  it('carries a launch and a release, under an owner that is no superuser', async () => {
    const { id } = await launch(platform.member, platform.projectId, 1);
    await waitForState(platform.member, id, 'active');
    await release(platform.member, id);
    await waitForState(platform.member, id, 'released');
    const { items } = await unwrap(
      platform.member.GET('/api/v1/allocations/{allocation_id}/wipe-certificates', {
        params: { path: { allocation_id: id } },
      }),
    );
    expect(items.map((item) => item.verified)).toEqual([true]);
  });

  /** Set up like an operator would: a server, a user with CREATEROLE, and that user's database. */
  async function startServer(folder: string): Promise<string> {
    const home = await mkdtemp(join(tmpdir(), 'gpuaas-external-'));
    stops.push(() => rm(home, { recursive: true, force: true }));
    const user = process.getuid?.() === 0 ? await findServiceUser() : undefined;
    const password = join(home, 'password');
    await writeFile(password, 'secret');
    for (const path of [home, password]) if (user) await chown(path, user.uid, user.gid);
    await chmod(home, 0o711);
    const data = join(home, 'data');
    const options = { ...user, cwd: '/', env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } };
    execFileSync(
      join(folder, 'initdb'),
      [
        '-D',
        data,
        '-U',
        'postgres',
        '-A',
        'scram-sha-256',
        `--pwfile=${password}`,
        '-E',
        'UTF8',
        '--no-sync',
      ],
      { ...options, stdio: 'ignore' },
    );
    const port = await freePort();
    const args = ['-D', data, '-p', String(port), '-k', '', '-c', 'fsync=off', '-c', 'max_connections=150'];
    const server = spawn(join(folder, 'postgres'), args, { ...options, stdio: 'ignore' });
    const ended = once(server, 'exit');
    stops.push(() => {
      server.kill('SIGQUIT');
      return ended;
    });
    const admin = `postgresql://postgres:secret@127.0.0.1:${port}/postgres`;
    await eventually('the server', () =>
      ask(admin, ['select 1']).then(
        () => true,
        () => null,
      ),
    );
    await ask(admin, [
      "create role gpuaas login createrole password 'secret'",
      'create database gpuaas owner gpuaas',
    ]);
    return `postgresql://gpuaas:secret@127.0.0.1:${port}/gpuaas`;
  }
});

async function ask(url: string, statements: string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end().catch(() => undefined);
  }
}
