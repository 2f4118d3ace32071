import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createEnrolment } from '@gpuaas/control-plane/domains/fleet/identity/create-enrolment';
import { issueTask } from '@gpuaas/control-plane/domains/tasks/issue-task';
import { seedDemoPeople } from '@gpuaas/control-plane/domains/tenancy/seed-demo-people';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { newId } from '@gpuaas/control-plane/platform/ids';
import type { PlatformServices } from '@gpuaas/control-plane/roles/domain-answers';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { openServices } from '@gpuaas/control-plane/roles/open-services';
import { startAgent } from '../../../node-agent/src/testing/agent-process.ts';
import { eventually } from '../../harness/eventually.ts';
import { freePort } from '../../harness/processes/free-port.ts';
import { roleProcesses, type RoleProcess } from '../../harness/processes/role-processes.ts';

const HOST = 'sim-h200-01';
const deadline = { timeout: 90_000, interval: 100 };
const stops: (() => unknown)[] = [];
let services: PlatformServices;
let roles: ReturnType<typeof roleProcesses>;
let nodeApi: RoleProcess;
let nodeId: string;
const front = { target: 0, deaf: false };

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-node-api-'));
  stops.push(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  const database = await createTestDatabase();
  stops.push(() => database.drop());
  const log = createLogger('test');
  log.level = 'silent';
  const opened = await openServices({ databaseUrl: database.url, dataDir, log });
  stops.push(() => opened.close());
  ({ services } = opened);
  roles = roleProcesses({ DATABASE_URL: database.url, GPUAAS_DATA_DIR: dataDir });
  stops.push(() => roles.stop());
  await buildGates();
  // Only `endLease` ends a lease here, however long a process takes to start.
  await services.db
    .insertInto('policy_values')
    .values({ key: 'fleet.task_lease_seconds', value: '600' })
    .execute();
  await startNodeApi();
  const port = await startFront();
  await services.db.transaction().execute((tx) => seedDemoPeople(tx, 'test', new Map()));
  const somebody = await services.db.selectFrom('users').select('id').executeTakeFirstOrThrow();
  const { token } = await services.db.transaction().execute((tx) =>
    createEnrolment(services, tx, {
      hostname: HOST,
      region: 'uae-north-1',
      pool: 'default',
      rack: 'r1',
      nodeFamily: 'hgx-h200',
      createdBy: somebody.id,
    }),
  );
  const agent = startAgent(join(dataDir, HOST), `https://127.0.0.1:${port}`, {
    GPUAAS_AGENT_HOSTNAME: HOST,
    GPUAAS_AGENT_TOKEN: token,
  });
  stops.push(() => agent.stop());
  const node = await eventually('the host to enrol', async () => {
    return (await services.db.selectFrom('nodes').select('id').executeTakeFirst()) ?? null;
  });
  nodeId = node.id;
}, 180_000);
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});
beforeEach(() => {
  front.deaf = false;
});

async function startNodeApi(): Promise<void> {
  nodeApi = await roles.start('node-api');
  front.target = nodeApi.port;
}

/** Kill -9 in the middle; the next one takes its place. */
async function killNodeApi(): Promise<void> {
  expect(await nodeApi.end('SIGKILL')).toBeNull();
  front.deaf = false;
  await startNodeApi();
}

/** The agent's endpoint. While it is deaf, responses of the API are lost on the way. */
async function startFront(): Promise<number> {
  const server = createServer((client) => {
    const upstream = connect({ port: front.target, host: '127.0.0.1' });
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on('data', (bytes) => void (front.deaf || client.write(bytes)));
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  stops.push(() => server.close());
  return port;
}

async function issue(): Promise<string> {
  const expiresAt = new Date(Date.now() + 3_600_000);
  return await services.db
    .transaction()
    .execute((tx) =>
      issueTask(tx, { nodeId, kind: 'slice.prereq_check', params: {}, correlationId: newId(), expiresAt }),
    );
}

const taskOf = (id: string) =>
  services.db
    .selectFrom('node_tasks')
    .select(['state', 'epoch'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

/** Time passes until the lease has run out. */
async function endLease(id: string): Promise<void> {
  await services.db
    .updateTable('node_tasks')
    .set({ lease_expires_at: sql`now()` })
    .where('id', '=', id)
    .where('state', '=', 'claimed')
    .execute();
}

async function timesTold(id: string, state: string): Promise<number> {
  const { rows } = await sql<{ count: string }>`select count(*) from outbox_events
    where subject_id = ${id} and payload ->> 'state' = ${state}`.execute(services.db);
  return Number(rows[0]!.count);
}

/** Locks that a claim and an outcome wait for while a test holds them: the moment before the commit. */
const GATES = { claimed: 771, succeeded: 772 };

async function buildGates(): Promise<void> {
  await sql`create function wait_at_gate() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(tg_argv[0]::bigint); return new; end $$`.execute(services.db);
  for (const [state, gate] of Object.entries(GATES)) {
    await sql`create trigger ${sql.ref(`gate_${state}`)} before update on node_tasks for each row
      when (new.state = ${sql.lit(state)} and new.state <> old.state)
      execute function wait_at_gate(${sql.lit(String(gate))})`.execute(services.db);
  }
}

/** Runs `act` and then `meanwhile`, when the API waits at the gate. */
async function holdAt(
  gate: keyof typeof GATES,
  act: () => Promise<string>,
  meanwhile: () => Promise<void>,
): Promise<string> {
  return await services.db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${GATES[gate]})`.execute(tx);
    const id = await act();
    const waits = async () => {
      const { rows } = await sql<{ waits: boolean }>`select exists (select from pg_locks
        where locktype = 'advisory' and objid = ${GATES[gate]} and not granted
          and database = (select oid from pg_database where datname = current_database())) as waits`.execute(
        services.db,
      );
      return rows[0]!.waits;
    };
    await expect.poll(waits, deadline).toBe(true);
    await meanwhile();
    return id;
  });
}

it('killed before a claim commits: the task is handed out as if nothing had been', async () => {
  const id = await holdAt('claimed', issue, async () => void (await nodeApi.end('SIGKILL')));
  await startNodeApi();
  await expect.poll(() => taskOf(id), deadline).toEqual({ state: 'succeeded', epoch: 1 });
  expect([await timesTold(id, 'claimed'), await timesTold(id, 'succeeded')]).toEqual([1, 1]);
}, 180_000);

it('killed after a claim has committed, before its answer: the lease runs out and the next attempt ends it', async () => {
  front.deaf = true;
  const id = await issue();
  await expect.poll(async () => (await taskOf(id)).state, deadline).toBe('claimed');
  await killNodeApi();
  await endLease(id);
  await expect.poll(() => taskOf(id), deadline).toEqual({ state: 'succeeded', epoch: 2 });
  expect(await timesTold(id, 'succeeded')).toBe(1);
}, 180_000);

it('killed before an outcome commits: the next process receives it again', async () => {
  const id = await holdAt('succeeded', issue, async () => void (await nodeApi.end('SIGKILL')));
  expect((await taskOf(id)).state).toBe('claimed');
  await startNodeApi();
  await expect.poll(() => taskOf(id), deadline).toEqual({ state: 'succeeded', epoch: 1 });
  expect(await timesTold(id, 'succeeded')).toBe(1);
}, 180_000);

it('killed after an outcome has committed, before its answer: telling it again changes nothing', async () => {
  const id = await holdAt('succeeded', issue, () => Promise.resolve(void (front.deaf = true)));
  await expect.poll(async () => (await taskOf(id)).state, deadline).toBe('succeeded');
  await killNodeApi();
  const next = await issue();
  await expect.poll(async () => (await taskOf(next)).state, deadline).toBe('succeeded');
  expect(await taskOf(id)).toEqual({ state: 'succeeded', epoch: 1 });
  expect(await timesTold(id, 'succeeded')).toBe(1);
}, 180_000);
