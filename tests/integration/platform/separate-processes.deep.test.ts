import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grantDemoCredit } from '@gpuaas/control-plane/domains/billing/ledger/grant-demo-credit';
import { seedDemoPeople, type SeededPerson } from '@gpuaas/control-plane/domains/tenancy/seed-demo-people';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { natsServerInstalled, startNatsServer } from '@gpuaas/control-plane/platform/events/nats-testing';
import type { PlatformServices } from '@gpuaas/control-plane/roles/domain-answers';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { openServices } from '@gpuaas/control-plane/roles/open-services';
import { approveFleet } from '@gpuaas/lab/approve-fleet';
import { putProductsOnSale } from '@gpuaas/lab/put-products-on-sale';
import { startSimulatedFleet } from '@gpuaas/lab/simulated-fleet';
import { createGpuaasClient, type GpuaasClient } from '@gpuaas/sdk/client';
import { launch, release, waitForState } from '../../harness/allocations/allocations.ts';
import { eventually } from '../../harness/eventually.ts';
import { mintStreamToken, openStream, type GuestStream } from '../../harness/access/guest-stream.ts';
import { balance, roleProcesses, type RoleProcess } from '../../harness/processes/role-processes.ts';

const ISSUER = 'https://identity.example';
const stops: (() => unknown)[] = [];
let env: Record<string, string>;
let databaseUrl: string;
let services: PlatformServices;
let people: SeededPerson[];
let roles: ReturnType<typeof roleProcesses>;

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-roles-'));
  stops.push(() => rm(dataDir, { recursive: true, force: true }));
  const database = await createTestDatabase();
  stops.push(() => database.drop());
  databaseUrl = database.url;
  const log = createLogger('test');
  log.level = 'silent';
  const opened = await openServices({ databaseUrl, dataDir, log });
  stops.push(() => opened.close());
  ({ services } = opened);
  people = await services.db.transaction().execute((tx) => seedDemoPeople(tx, ISSUER, new Map()));
  const tenants = people.flatMap(({ organizationId }) => organizationId ?? []);
  await services.db.transaction().execute((tx) => grantDemoCredit(tx, tenants));
  env = {
    DATABASE_URL: databaseUrl,
    GPUAAS_DATA_DIR: dataDir,
    GPUAAS_OIDC_ISSUER: ISSUER,
    GPUAAS_OIDC_CLIENT_ID: 'gpuaas',
    GPUAAS_OIDC_CLIENT_SECRET: 'not used here',
  };
  if (natsServerInstalled) {
    const nats = await startNatsServer();
    stops.push(() => nats.stop());
    env['NATS_URL'] = nats.url;
  }
  roles = roleProcesses(env);
  stops.push(() => roles.stop());
});
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});

interface Report {
  ready: boolean;
  parts: { name: string; ready: boolean; detail?: string }[];
}

async function readiness({ url }: RoleProcess): Promise<Report> {
  return (await (await fetch(`${url}/readyz`)).json()) as Report;
}

function clientOf(key: string, baseUrl: string): GpuaasClient {
  return createGpuaasClient({ baseUrl, apiKey: people.find((person) => person.key === key)!.apiKey });
}

describe('roles as separate processes', () => {
  it('carry a launch and a release over two of each, though an API, a node API and a worker go in the middle', async () => {
    const apis = [await roles.start('api'), await roles.start('api')];
    // An API without workers serves, and reports what the platform lacks.
    const alone = await readiness(apis[0]!);
    expect(alone.ready).toBe(true);
    expect(alone.parts).toContainEqual({
      name: 'workflows',
      ready: false,
      detail: expect.stringContaining('no worker') as string,
    });
    const nodeApis = [await roles.start('node-api'), await roles.start('node-api')];
    const workers = [await roles.start('worker'), await roles.start('worker')];
    const relays = natsServerInstalled ? [await roles.start('relay'), await roles.start('relay')] : [];
    await probesAnswer([...nodeApis, ...workers, ...relays]);

    const apiPorts = await balance(apis.map(({ port }) => port));
    stops.push(() => apiPorts.stop());
    const nodePorts = await balance(nodeApis.map(({ port }) => port));
    stops.push(() => nodePorts.stop());
    const baseUrl = `http://127.0.0.1:${apiPorts.port}`;
    const operator = clientOf('operator', baseUrl);
    const member = clientOf('member', baseUrl);
    const fleet = await startSimulatedFleet({
      count: 1,
      serverUrl: `https://127.0.0.1:${nodePorts.port}`,
      stateDir: join(env['GPUAAS_DATA_DIR']!, 'hosts'),
      speed: 0.2,
      client: operator,
      region: 'uae-north-1',
      log: services.log,
    });
    stops.push(() => fleet.stop());
    await approveFleet(operator, services.log);
    await putProductsOnSale(operator);

    const projectId = people.find((person) => person.key === 'member')!.projectId!;
    const { id } = await launch(member, projectId, 1);
    await waitForState(member, id, 'provisioning');
    const runner = await runnerOf(id, workers);
    await runner.end('SIGKILL');
    expect(await apis[0]!.end('SIGTERM')).toBe(0);
    expect(await nodeApis[0]!.end('SIGTERM')).toBe(0);
    await waitForState(member, id, 'active', 90_000);
    await streamsCrossProcesses(member, id, baseUrl, nodeApis);

    await release(member, id);
    // A replacement joins while the other half goes.
    const next = await roles.start('worker');
    const other = workers.find((worker) => worker !== runner)!;
    expect(await other.end('SIGTERM')).toBe(0);
    if (relays[0]) expect(await relays[0].end('SIGTERM')).toBe(0);
    await waitForState(member, id, 'released', 90_000);

    const report = await eventually('everything ready again', async () => {
      const found = await readiness(next);
      return found.parts.every((part) => part.ready) ? found : null;
    });
    const names = ['database', 'bus', 'workflows', 'event consumers'];
    expect(report.parts.map(({ name }) => name)).toEqual(
      natsServerInstalled ? [...names, 'relay lag'] : names,
    );
    const bus = report.parts.find(({ name }) => name === 'bus')!;
    expect(bus.detail).toMatch(natsServerInstalled ? /^nats: answers in \d+ ms$/ : /^embedded: woken/);
    const { rows } = await sql<{ kind: string; state: string }>`
      select kind, state from node_tasks where subject_id = ${id} order by created_at`.execute(services.db);
    expect(rows).toEqual([
      { kind: 'slice.vm_provision', state: 'succeeded' },
      { kind: 'slice.vm_release', state: 'succeeded' },
    ]);
  }, 300_000);

  it.each(['api', 'node-api', 'worker', 'relay', 'migrate'] as const)(
    '%s refuses to start without a database, by the name of the setting',
    async (role) => {
      const { code, said } = await runToEnd(role, { DATABASE_URL: '' });
      expect(said).toContain('DATABASE_URL must name the database of the platform');
      expect(code).toBe(2);
    },
  );

  it('an API refuses to start without an identity provider', async () => {
    const { code, said } = await runToEnd('api', { GPUAAS_OIDC_ISSUER: '' });
    expect(said).toContain('GPUAAS_OIDC_ISSUER must name an identity provider');
    expect(code).toBe(2);
  });

  it('a worker refuses a database that lacks migrations, and migrate prepares it', async () => {
    const bare = await bareDatabase();
    const refused = await runToEnd('worker', { DATABASE_URL: bare });
    expect(refused.said).toMatch(/lacks \d+ migrations.*Run node control-plane\/src\/roles\/migrate.ts/);
    expect(refused.code).toBe(1);
    expect((await runToEnd('migrate', { DATABASE_URL: bare })).code).toBe(0);
    expect((await runToEnd('migrate', { DATABASE_URL: bare })).code).toBe(0);
    const worker = await roles.start('worker', { DATABASE_URL: bare });
    expect(await worker.end('SIGTERM')).toBe(0);
  });
});

/** The host is connected to a node API; clients of its machine connect to an API. */
async function streamsCrossProcesses(
  member: GpuaasClient,
  allocationId: string,
  baseUrl: string,
  [gone, holder]: RoleProcess[],
): Promise<void> {
  const open = async (): Promise<GuestStream> => {
    const { token } = await mintStreamToken(member, allocationId, 22);
    const stream = await openStream(baseUrl, token);
    const [greeting] = (await once(stream.bytes, 'data', { signal: AbortSignal.timeout(15_000) })) as [
      Buffer,
    ];
    expect(greeting.toString('latin1')).toMatch(/^SSH-2\.0-/);
    return stream;
  };
  const patiently = () => eventually('a stream', () => open().catch(() => null));
  const stream = await patiently();
  expect(await (await fetch(`${holder!.url}/metrics`)).text()).toContain(
    'gpuaas_streams_open{kind="replica"} 1',
  );
  await holder!.end('SIGKILL');
  await stream.closed;
  // Its row stands until the lease ends or the host is somewhere else; meanwhile the refusal says why.
  await expect(open()).rejects.toThrow('502 guest_unreachable');
  await roles.start('node-api', { GPUAAS_NODE_PORT: String(gone!.port) });
  (await patiently()).ws.close();
}

async function probesAnswer(processes: RoleProcess[]): Promise<void> {
  for (const { url } of processes) {
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' });
    const metrics = await fetch(`${url}/metrics`);
    expect(metrics.status).toBe(200);
    expect(await metrics.text()).toContain('gpuaas_readings_up 1');
    expect((await fetch(`${url}/healthz`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404);
  }
}

/** The worker that runs the workflow of the allocation; executor ids carry the process id. */
async function runnerOf(allocationId: string, workers: RoleProcess[]): Promise<RoleProcess> {
  return await eventually('the workflow to have a runner', async () => {
    const { rows } = await sql<{ executor_id: string | null }>`
      select executor_id from dbos.workflow_status
      where workflow_uuid like ${`%${allocationId}%`} and status = 'PENDING'`.execute(services.db);
    return workers.find(({ pid }) => rows.some(({ executor_id }) => executor_id?.includes(`-${pid}-`)));
  });
}

async function runToEnd(
  role: string,
  more: Record<string, string>,
): Promise<{ code: number | null; said: string }> {
  const file = join(import.meta.dirname, `../../../control-plane/src/roles/${role}.ts`);
  const child = spawn(process.execPath, ['--disable-warning=DeprecationWarning', file], {
    env: { PATH: process.env['PATH'], GPUAAS_LOG_LEVEL: 'error', ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (said += data.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}

async function bareDatabase(): Promise<string> {
  const name = `bare_${process.pid}`;
  await sql.raw(`create database ${name}`).execute(services.db);
  stops.splice(stops.length - 1, 0, () =>
    sql.raw(`drop database if exists ${name} with (force)`).execute(services.db),
  );
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}
