import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { locateCluster } from '@gpuaas/control-plane/platform/db/embedded/cluster-location';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '@gpuaas/control-plane/platform/db/embedded-postgres';
import { inScope } from '@gpuaas/control-plane/platform/db/scope';
import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { databaseLimits } from '@gpuaas/control-plane/platform/db/limits';
import { runAsAdmin } from '@gpuaas/control-plane/platform/db/testing';
import { migrateWorkflows } from '@gpuaas/control-plane/platform/workflows/migrate-workflows';
import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { processTree } from '../../harness/processes/process-tree.ts';

/** Far more than the limits below add up to. */
const ANSWERED_MS = 60_000;
const TOGETHER = 60;

let dataDir: string;
let server: EmbeddedPostgres;
let api: TestApi;
const lost: Error[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-away-'));
  if (process.getuid?.() === 0) await chmod(dataDir, 0o711);
  server = await startEmbeddedPostgres({
    dataDir,
    settings: { fsync: 'off', full_page_writes: 'off' },
    onLost: (error) => lost.push(error),
  });
  await runAsAdmin(server.url, 'create database away');
  await migrate(server.urlFor('away'));
  await migrateWorkflows(server.urlFor('away'));
  api = await createTestApi({
    databaseUrl: server.urlFor('away'),
    databaseLimits: databaseLimits({ connectMs: 1_000, statementMs: 2_000, workStatementMs: 60_000 }),
  });
});
afterAll(async () => {
  await api?.stop();
  await server?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function postmaster(): Promise<number> {
  const { folder } = await locateCluster(dataDir);
  return Number((await readFile(join(folder, 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

async function ask(url: string): Promise<{ status: number; retryAfter: unknown; code: unknown }> {
  const headers = { authorization: `Bearer ${api.people['admin']!.apiKey}` };
  const answer = await Promise.race([api.server.inject({ url, headers }), pause(ANSWERED_MS, null)]);
  if (!answer) throw new Error(`${url} was not answered`);
  const body = answer.json<{ code?: string }>();
  return { status: answer.statusCode, retryAfter: answer.headers['retry-after'], code: body.code };
}

const UNAVAILABLE = { status: 503, retryAfter: '5', code: 'service_unavailable' };
const projects = (): string => `/api/v1/projects?organization_id=${api.people['admin']!.organizationId}`;
const works = async (): Promise<number> => (await ask(projects())).status;

describe('a database that cannot be asked', () => {
  it('because it is frozen costs every request a bounded wait, and nothing after it', async () => {
    expect(await works()).toBe(200);
    const frozen = await processTree(await postmaster());
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    let answers;
    try {
      answers = await Promise.all(
        Array.from({ length: TOGETHER }, (_, n) => ask(n % 2 ? '/api/v1/me' : projects())),
      );
    } finally {
      for (const pid of frozen) process.kill(pid, 'SIGCONT');
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify(UNAVAILABLE)]),
    );
    await expect.poll(works).toBe(200);
  });

  it('because somebody holds a lock costs a request one statement, and leaves workers their time', async () => {
    const holder = new Client({ connectionString: server.urlFor('away') });
    await holder.connect();
    await holder.query('begin; lock table projects in access exclusive mode');
    const work = inScope(api.services.db, { role: 'gpuaas_worker' }, async (tx) => {
      const { rows } = await sql<{ n: number }>`select count(*)::int as n from projects`.execute(tx);
      return rows[0]!.n;
    });
    const refused = await ask(projects());
    await holder.query('rollback');
    await holder.end();
    expect(refused).toEqual(UNAVAILABLE);
    expect(await work).toBeGreaterThan(0);
    expect(await works()).toBe(200);
  });

  it('because it was killed is started again, though a backend of it hangs on', async () => {
    const before = await postmaster();
    const [backend] = (await processTree(before)).slice(-1);
    // It cannot notice that its postmaster is gone, and keeps the shared memory.
    process.kill(backend!, 'SIGSTOP');
    process.kill(before, 'SIGKILL');
    const seen = new Set<string>();
    await expect
      .poll(async () => {
        const answer = await ask(projects());
        seen.add(JSON.stringify(answer));
        return answer.status;
      })
      .toBe(503);
    await expect
      .poll(
        async () => {
          const answer = await ask(projects());
          seen.add(JSON.stringify(answer));
          return answer.status;
        },
        { timeout: 90_000 },
      )
      .toBe(200);
    seen.delete(JSON.stringify({ status: 200 }));
    expect(seen).toEqual(new Set([JSON.stringify(UNAVAILABLE)]));
    expect(await postmaster()).not.toBe(before);
    expect(lost).toEqual([]);
  });
});
