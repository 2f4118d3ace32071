import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { watchLifecycle } from '@gpuaas/control-plane/domains/apps/watch-lifecycle';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, release, waitForState } from '../../harness/allocations/allocations.ts';
import {
  appEvents,
  appIs,
  getApp,
  publish,
  runApp,
  shellManifest,
  stopApp,
  type AppInstance,
} from '../../harness/apps/apps.ts';
import { inGuest, setPolicy } from '../../harness/apps/sabotage.ts';
import { eventually } from '../../harness/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

// Waits add up on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

/** What each tenant spoils: every one has a machine, and all machines share a host. */
const TENANTS = ['runner', 'files', 'process', 'disk', 'rights', 'shell', 'key', 'power'] as const;
type Tenant = (typeof TENANTS)[number];

let platform: TestPlatform;
const machines = new Map<Tenant, string>();

beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  const { member, operator, projectId } = platform;
  await setPolicy(operator, 'apps.observe_interval_seconds', 1);
  await setPolicy(operator, 'apps.unreachable_seconds', 10);
  await setPolicy(operator, 'apps.stop_timeout_seconds', 10);
  await setPolicy(operator, 'apps.teardown_deadline_seconds', 60);
  await publish(operator, 'sleeper', shellManifest('exec sleep 1000', { kind: 'service' }));
  for (const tenant of TENANTS) machines.set(tenant, (await launch(member, projectId, 1)).id);
  for (const id of machines.values()) await waitForState(member, id, 'active');
});
afterAll(() => platform?.stop());

const machineOf = (tenant: Tenant): string => machines.get(tenant)!;
const inMachine = (tenant: Tenant, command: string) => inGuest(platform, machineOf(tenant), command);

async function start(tenant: Tenant): Promise<string> {
  const { member, projectId } = platform;
  const body = { project_id: projectId, app_slug: 'sleeper', allocation_id: machineOf(tenant) };
  return (await runApp(member, body)).id;
}

async function running(tenant: Tenant): Promise<string> {
  const id = await start(tenant);
  await appIs(platform.member, id, 'running');
  return id;
}

/** It fails, and an event of its member says why. */
async function fails(id: string): Promise<AppInstance> {
  const app = await appIs(platform.member, id, 'failed');
  const events = await appEvents(platform.member, id);
  const failed = events.find(({ event_type: type }) => type === 'member_failed');
  expect(failed).toMatchObject({ reason: app.reason });
  return app;
}

async function isStopped(id: string): Promise<AppInstance> {
  await stopApp(platform.member, id);
  return await appIs(platform.member, id, 'stopped');
}

async function memberOf(id: string) {
  const params = { path: { app_instance_id: id } };
  const { items } = await unwrap(
    platform.member.GET('/api/v1/app-instances/{app_instance_id}/members', { params }),
  );
  return items[0]!;
}

const timeOf = (at: string | null): number => new Date(at ?? 0).getTime();

async function isProved(id: string): Promise<void> {
  const proved = async () => (await getApp(platform.member, id)).teardown.state === 'proved' || null;
  await eventually('the proof of the teardown', proved, 120_000);
}

/** Instances that ever had an incident, once the teardowns that are still open are past their deadline. */
async function withIncident(): Promise<string[]> {
  const { services } = platform;
  const later = new Date(Date.now() + 120_000);
  const worker = servicesAsRole({ ...services, clock: { now: () => later } }, 'gpuaas_worker');
  await watchLifecycle.run(worker, { from: later, to: later });
  const rows = await services.db
    .selectFrom('incidents')
    .select('target_id')
    .where('type', '=', 'app_runtime_lifecycle')
    .execute();
  return rows.map((row) => row.target_id);
}

describe.concurrent('a tenant who', () => {
  it('deletes or replaces the runner changes nothing', async () => {
    const id = await running('runner');
    await inMachine('runner', 'rm -rf ~/.gpuaas/runner; mkdir -p ~/.gpuaas/runner/folder');
    const { observed_at: before } = await memberOf(id);
    await eventually('two observations after that', async () => {
      const { observed_at: last } = await memberOf(id);
      return timeOf(last) > timeOf(before) + 2000 ? true : null;
    });
    await inMachine('runner', 'echo "exit 0" > ~/.gpuaas/runner');
    expect(await isStopped(id)).toMatchObject({ teardown: { state: 'proved' } });
    expect(await inMachine('runner', 'pgrep -x sleep; ls ~/.gpuaas/members')).toBe('');
  });

  it('deletes all files of the platform and ends the process has lost the member', async () => {
    const id = await running('files');
    await inMachine('files', 'rm -rf ~/.gpuaas; pkill -9 -x sleep');
    expect(await fails(id)).toMatchObject({ reason: 'node_lost', teardown: { state: 'proved' } });
  });

  it('kills the process sees the signal', async () => {
    const id = await running('process');
    await inMachine('process', 'pkill -9 -x sleep');
    expect(await fails(id)).toMatchObject({ reason: 'exit_nonzero', teardown: { state: 'proved' } });
    expect(await memberOf(id)).toMatchObject({ signal: 'SIGKILL' });
  });

  it('fills the disk keeps what runs, starts nothing more, and can stop what runs', async () => {
    // A disk of 16 MiB.
    await inMachine('disk', 'mkdir /run/user/1000/small && ln -s /run/user/1000/small ~/.gpuaas');
    const id = await running('disk');
    await inMachine('disk', 'cat /dev/zero > /run/user/1000/zeros; :');
    expect(await fails(await start('disk'))).toMatchObject({ reason: 'disk_full' });
    expect((await getApp(platform.member, id)).status).toBe('running');
    expect(await isStopped(id)).toMatchObject({ teardown: { state: 'proved' } });
    expect(await inMachine('disk', 'pgrep -x sleep; ls ~/.gpuaas/members')).toBe('');
  });

  it('takes the right to write sees that, and gives the proof back with the right', async () => {
    const id = await running('rights');
    await inMachine('rights', 'rm ~/.gpuaas/runner; chmod 500 ~/.gpuaas');
    expect(await fails(id)).toMatchObject({ reason: 'permissions', teardown: { state: 'open' } });
    await inMachine('rights', 'chmod 700 ~/.gpuaas');
    await isProved(id);
    expect(await inMachine('rights', 'pgrep -x sleep')).toBe('');
  });

  it('has a login shell that runs nothing took the access', async () => {
    const id = await running('shell');
    await inMachine('shell', 'echo "exit 0" > ~/.bash_profile');
    expect(await fails(id)).toMatchObject({ reason: 'access_lost', teardown: { state: 'open' } });
  });

  it('removes the key of the platform took the access, for stops too', async () => {
    const [id, other] = [await running('key'), await running('key')];
    // Without the runner the next look fails, and the one after it has to log in.
    await inMachine('key', ': > ~/.ssh/authorized_keys; rm ~/.gpuaas/runner; chmod 500 ~/.gpuaas');
    expect(await isStopped(other)).toMatchObject({ reason: 'cancelled', teardown: { state: 'open' } });
    expect(await fails(id)).toMatchObject({ reason: 'access_lost', teardown: { state: 'open' } });
  });

  it('switches the machine off loses the member, and its wipe proves the teardown', async () => {
    const id = await running('power');
    await inMachine('power', 'kill -9 2').catch(() => undefined);
    expect(await fails(id)).toMatchObject({ reason: 'node_lost', teardown: { state: 'open' } });
    await release(platform.member, machineOf('power'));
    await isProved(id);
    const proof = (await appEvents(platform.member, id)).find((one) => one.event_type === 'teardown_proved');
    expect(proof?.payload).toMatchObject({ proof: 'wiped', certificate_ids: [expect.any(String)] });
  });
});

it('no operator is called for what tenants did', async () => {
  expect(await withIncident()).toEqual([]);
});

it('a machine that starts again has lost its members, and the files of them go', async () => {
  const id = await running('process');
  const params = { path: { lab_hostname: 'sim-h200-01' } };
  const body = { faults: ['host_reboot' as const] };
  await unwrap(platform.operator.PUT('/api/v1/admin/lab/hosts/{lab_hostname}/faults', { params, body }));
  expect(await fails(id)).toMatchObject({ reason: 'node_lost' });
  await isProved(id);
  expect(await withIncident()).toEqual([]);
});
