import { randomUUID } from 'node:crypto';
import { endAbandonedOnboardings } from '@gpuaas/control-plane/domains/fleet/onboarding/end-abandoned';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { STATUS } from '@gpuaas/lab/maas/statuses';
import type { FakeMachine } from '@gpuaas/lab/maas/fake-machine';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi } from '../../harness/api.ts';
import { eventually } from '../../harness/eventually.ts';
import { addNode, ask } from '../../harness/fleet/fleet.ts';
import { tokenIn } from '../../harness/fleet/maas.ts';
import { keepWorkers, type Workers } from '../../simulation/lifecycle/keep-workers.ts';
import { openLifecycleWorld, type LifecycleWorld } from '../../simulation/lifecycle/lifecycle-world.ts';

interface Onboarding {
  id: string;
  state: string;
  undone: boolean | null;
  detail: string | null;
  node_id: string | null;
  enrolment_id: string | null;
  steps: { step: string; state: string; message: string | null }[];
  code?: string;
}

const POLICIES = { 'fleet.maas_poll_seconds': 0.2, 'fleet.maas_deadline_seconds': 60 };

let world: LifecycleWorld;
let workers: Workers;
beforeAll(async () => {
  world = await openLifecycleWorld({ nodes: 0, policies: POLICIES, withMaas: true });
  workers = keepWorkers(1, world.env);
}, 180_000);
afterAll(async () => {
  await workers?.stop();
  await world?.stop();
});

let last = 0;
function addMachine(change: Partial<Pick<FakeMachine, 'status' | 'hostname'>> = {}): FakeMachine {
  last += 1;
  return world.maas!.add({ systemId: `m${last}`, hostname: `gpu-${last}`, ...change });
}

const bring = (systemId: string, body: object = {}, person = 'operator') =>
  ask<Onboarding>(world.api, person, 'POST', `/maas/machines/${systemId}/import`, {
    profile: 'slice_vm',
    region: 'uae-north-1',
    ...body,
  });
const look = async (id: string): Promise<Onboarding> =>
  (await ask<Onboarding>(world.api, 'operator', 'GET', `/node-onboardings/${id}`)).body;

async function comesTo(id: string, done: (onboarding: Onboarding) => boolean): Promise<Onboarding> {
  return await eventually('the onboarding to come that far', async () => {
    const onboarding = await look(id);
    return done(onboarding) ? onboarding : null;
  });
}

const ended = (id: string): Promise<Onboarding> => comesTo(id, ({ state }) => state !== 'running');
const stepOf = ({ steps }: Onboarding, name: string) => steps.find(({ step }) => step === name)!;

async function openIncidents(systemId: string): Promise<string[]> {
  const rows = await world.api.services.db
    .selectFrom('incidents')
    .select('summary')
    .where('type', '=', 'node_onboarding_failed')
    .where('target_id', '=', systemId)
    .where('resolved_at', 'is', null)
    .execute();
  return rows.map(({ summary }) => summary);
}

describe('a machine of MAAS', () => {
  it('becomes a host of its profile, step by step', async () => {
    const machine = addMachine({ hostname: 'rack7-u3' });
    const started = await bring(machine.systemId, { rack: 'rack7', pool: 'h200' });
    expect(started).toMatchObject({ status: 202, body: { state: 'running', hostname: 'rack7-u3' } });
    expect(started.headers['location']).toBe(`/api/v1/admin/node-onboardings/${started.body.id}`);
    const onboarding = await ended(started.body.id);
    expect(onboarding).toMatchObject({ state: 'succeeded', detail: null, undone: null });
    expect(onboarding.steps.map(({ step, state }) => `${step} ${state}`)).toEqual([
      'tag done',
      'commission done',
      'test done',
      'allocate done',
      'deploy done',
      'enrol done',
      'discover done',
    ]);
    expect(machine.history).toEqual([
      'Commissioning',
      'Ready',
      'Testing',
      'Ready',
      'Allocated',
      'Deploying',
      'Deployed',
    ]);
    // Its first promotion: devices bound, prerequisites checked, discovered.
    await eventually('the promotion to end', async () => {
      const { body: found } = await ask<{ items: { to_mode: string; state: string }[] }>(
        world.api,
        'operator',
        'GET',
        `/nodes/${onboarding.node_id}/conversions`,
      );
      return found.items.some(({ to_mode, state }) => to_mode === 'slice' && state === 'succeeded') || null;
    });
    const node = await ask(world.api, 'operator', 'GET', `/nodes/${onboarding.node_id}`);
    expect(node.body).toMatchObject({
      hostname: 'rack7-u3',
      rack: 'rack7',
      pool: 'h200',
      mode: 'slice',
      profile_tags: ['gpuaas-profile-slice-vm'],
      cordons: [{ reason: 'burn_in' }],
    });
    const list = await ask<{ items: object[] }>(world.api, 'operator', 'GET', '/maas/machines');
    expect(list.body.items).toContainEqual(
      expect.objectContaining({
        system_id: machine.systemId,
        status: 'deployed',
        profile: 'slice_vm',
        node_id: onboarding.node_id,
        import_refusal: 'In MAAS it belongs to gpuaas.',
      }),
    );
    const tasks = await ask<{ items: { kind: string }[] }>(
      world.api,
      'operator',
      'GET',
      `/tasks?node_id=${onboarding.node_id}`,
    );
    expect(tasks.body.items.map(({ kind }) => kind).toSorted()).toEqual([
      'node.set_mode',
      'slice.prereq_check',
      'slice.topology_discover',
    ]);
  });

  it('for whole hosts is promoted to baremetal mode', async () => {
    const machine = addMachine({ status: STATUS.READY });
    const { body } = await bring(machine.systemId, { profile: 'baremetal' });
    const { node_id, state } = await ended(body.id);
    expect(state).toBe('succeeded');
    expect(machine.profiles).toEqual(['baremetal']);
    const node = await eventually('the promotion to end', async () => {
      const { body: found } = await ask<{ mode: string | null }>(
        world.api,
        'operator',
        'GET',
        `/nodes/${node_id}`,
      );
      return found.mode === null ? null : found;
    });
    expect(node).toMatchObject({ mode: 'baremetal', profile_tags: ['gpuaas-profile-baremetal'] });
  });

  it('that fails its tests returns to MAAS, with an incident that closes after a successful import', async () => {
    const machine = addMachine();
    machine.faults.add('testing fails');
    const { body } = await bring(machine.systemId);
    const failed = await ended(body.id);
    expect(failed).toMatchObject({ state: 'failed', undone: true, node_id: null, enrolment_id: null });
    expect(failed.detail).toContain('failed: smartctl-validate');
    expect(failed.steps.map(({ state }) => state)).toEqual([
      'done',
      'done',
      'failed',
      'skipped',
      'skipped',
      'skipped',
      'skipped',
    ]);
    expect([...machine.tags]).toEqual([]);
    expect(await openIncidents(machine.systemId)).toEqual([expect.stringContaining('MAAS has it back')]);
    machine.faults.clear();
    const again = await bring(machine.systemId);
    expect((await ended(again.body.id)).state).toBe('succeeded');
    expect(await openIncidents(machine.systemId)).toEqual([]);
  });

  it('whose installation fails is released, and its token is worth nothing', async () => {
    const machine = addMachine();
    machine.faults.add('deploying fails');
    const { body } = await bring(machine.systemId);
    const installing = await comesTo(body.id, ({ enrolment_id }) => enrolment_id !== null);
    const failed = await ended(body.id);
    expect(failed).toMatchObject({ state: 'failed', undone: true });
    expect([machine.status, machine.owner]).toEqual([STATUS.READY, null]);
    const enrolment = await world.api.services.db
      .selectFrom('node_enrolments')
      .select(['hostname', 'used_at', 'revoked_at'])
      .where('id', '=', installing.enrolment_id!)
      .executeTakeFirstOrThrow();
    expect(enrolment).toEqual({ hostname: machine.hostname, used_at: null, revoked_at: expect.any(Date) });
  });

  it('can be called back while MAAS works on it', async () => {
    const machine = addMachine();
    machine.faults.add('never ends');
    const { body } = await bring(machine.systemId);
    await comesTo(body.id, (onboarding) => stepOf(onboarding, 'commission').message !== null);
    const cancel = `/node-onboardings/${body.id}/cancel`;
    expect((await ask(world.api, 'operator', 'POST', cancel)).status).toBe(202);
    expect(await ended(body.id)).toMatchObject({ state: 'cancelled', undone: true });
    expect(machine.status).toBe(STATUS.NEW);
    expect(await openIncidents(machine.systemId)).toEqual([]);
    expect(await ask(world.api, 'operator', 'POST', cancel)).toMatchObject({
      status: 409,
      body: { code: 'onboarding_ended' },
    });
  });

  it('waits for a MAAS that is away for a while, and loses nothing by answers that are lost', async () => {
    const machine = addMachine();
    const { body } = await bring(machine.systemId);
    const { faults, granted } = world.maas!;
    faults.push('unavailable', 'lose answer', null, 'lose answer', null, null, 'lose answer', 'unavailable');
    expect((await ended(body.id)).state).toBe('succeeded');
    faults.length = 0;
    const asked = granted.filter((one) => one === `machines/${machine.systemId}/ commission`);
    expect(asked).toHaveLength(1);
  });
});

describe('an import', () => {
  it('is refused to tenants, for unknown, busy and foreign machines, and twice', async () => {
    const machine = addMachine();
    expect((await bring(machine.systemId, {}, 'member')).status).toBe(403);
    expect(await bring('nosuch')).toMatchObject({ status: 404 });
    expect(await bring(machine.systemId, { region: 'nowhere-1' })).toMatchObject({
      body: { code: 'region_unavailable' },
    });
    const deployed = addMachine({ status: STATUS.DEPLOYED });
    expect(await bring(deployed.systemId)).toMatchObject({
      status: 409,
      body: { code: 'maas_machine_refused', detail: 'MAAS says it is deployed.' },
    });
    await addNode(world.api, { hostname: 'taken' });
    const namesake = addMachine({ hostname: 'taken' });
    expect(await bring(namesake.systemId)).toMatchObject({ body: { code: 'maas_machine_refused' } });
    machine.faults.add('never ends');
    const first = await bring(machine.systemId);
    expect(await bring(machine.systemId)).toMatchObject({
      status: 409,
      body: { code: 'onboarding_running', onboarding_id: first.body.id },
    });
    await ask(world.api, 'operator', 'POST', `/node-onboardings/${first.body.id}/cancel`);
    await ended(first.body.id);
  });

  it('says so when MAAS does not answer, or does not know our key', async () => {
    world.maas!.faults.push('unavailable');
    expect(await ask(world.api, 'operator', 'GET', '/maas/machines')).toMatchObject({
      status: 503,
      body: { code: 'maas_unavailable' },
    });
    expect((await ask(world.api, 'member', 'GET', '/maas/machines')).status).toBe(403);
  });

  it('whose workflow is gone fails instead of running indefinitely', async () => {
    await workers.stop();
    const machine = addMachine();
    const { body } = await bring(machine.systemId);
    const { db } = world.api.services;
    const worker = servicesAsRole(world.api.services, 'gpuaas_worker');
    await db
      .updateTable('node_onboardings')
      .set({ requested_at: new Date(Date.now() - 600_000) })
      .where('id', '=', body.id)
      .execute();
    expect(await endAbandonedOnboardings(worker)).toBe(0);
    await db.deleteFrom('workflow_starts').where('workflow_id', '=', `onboard:${body.id}`).execute();
    expect(await endAbandonedOnboardings(worker)).toBe(1);
    expect(await look(body.id)).toMatchObject({ state: 'failed', undone: false });
    expect(await openIncidents(machine.systemId)).toEqual([expect.stringContaining('did not get it back')]);
  });
});

it('an import holds no transaction while MAAS thinks, and its repetition needs no MAAS', async () => {
  await workers.stop();
  const { api, maas } = world;
  const machine = addMachine();
  const slow = Promise.withResolvers<void>();
  maas!.faults.push(slow.promise);
  const path = `/maas/machines/${machine.systemId}/import`;
  const body = { profile: 'slice_vm', region: 'uae-north-1' };
  const headers = { 'x-idempotency-key': randomUUID() };
  const first = ask<Onboarding>(api, 'operator', 'POST', path, body, headers);
  await expect.poll(() => maas!.faults.length).toBe(0);
  const waiting = sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'`;
  await expect.poll(async () => (await waiting.execute(api.services.db)).rows[0]?.count).toBe(0);
  slow.resolve();
  const accepted = await first;
  expect(accepted.status).toBe(202);
  maas!.faults.push('unavailable');
  const again = await ask<Onboarding>(api, 'operator', 'POST', path, body, headers);
  expect(again).toMatchObject({ status: 202, body: { id: accepted.body.id } });
  maas!.faults.length = 0;
});

it('machines are listed in pages, by host name', async () => {
  const list = async (query: string) =>
    (
      await ask<{ items: { hostname: string }[]; next_page: string | null }>(
        world.api,
        'operator',
        'GET',
        `/maas/machines?${query}`,
      )
    ).body;
  const all = (await list('limit=200')).items.map(({ hostname }) => hostname);
  expect(all).toEqual(all.toSorted());
  const paged: string[] = [];
  let page: string | null = null;
  do {
    const one: Awaited<ReturnType<typeof list>> = await list(`limit=3${page ? `&page=${page}` : ''}`);
    paged.push(...one.items.map(({ hostname }) => hostname));
    page = one.next_page;
  } while (page);
  expect(paged).toEqual(all);
});

it('without MAAS nothing is asked, and the API says so', async () => {
  const api = await createTestApi();
  try {
    expect(await ask(api, 'operator', 'GET', '/maas/machines')).toMatchObject({
      status: 409,
      body: { code: 'maas_disabled' },
    });
    const body = { profile: 'slice_vm', region: 'uae-north-1' };
    expect(await ask(api, 'operator', 'POST', '/maas/machines/abc/import', body)).toMatchObject({
      status: 409,
      body: { code: 'maas_disabled' },
    });
  } finally {
    await api.stop();
  }
});

it('user-data contains a separate token for each machine', async () => {
  const deployed = world
    .maas!.granted.filter((one) => one.endsWith(' deploy'))
    .map((one) => world.maas!.machine(/machines\/(\w+)\//.exec(one)![1]!))
    .filter(({ userData }) => userData !== null);
  const tokens = deployed.map(tokenIn);
  expect(new Set(tokens).size).toBe(tokens.length);
  expect(tokens.length).toBeGreaterThan(1);
});
