import { completeIdentityRotations } from '@gpuaas/control-plane/domains/fleet/identity/rotate-identity';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import type { FakeMachine } from '@gpuaas/lab/maas/fake-machine';
import { sql } from 'kysely';
import { afterEach, beforeAll, afterAll, expect, it } from 'vitest';
import { eventually } from '../../harness/eventually.ts';
import { addNode, ask } from '../../harness/fleet/fleet.ts';
import { keepWorkers, type Workers } from '../../simulation/lifecycle/keep-workers.ts';
import { openLifecycleWorld, type LifecycleWorld } from '../../simulation/lifecycle/lifecycle-world.ts';
import { importMachine } from '../../simulation/steps/imported-machines.ts';

const POLICY = 'allocations.root_on_redeployable_hosts';
const POLICIES = {
  [POLICY]: true,
  'allocations.wipe_attempts': 1,
  'allocations.provision_attempts': 1,
  'fleet.maas_poll_seconds': 0.2,
  'fleet.maas_deadline_seconds': 60,
};
const MS = 60_000;

let world: LifecycleWorld;
let workers: Workers | null = null;
beforeAll(async () => {
  world = await openLifecycleWorld({ nodes: 0, policies: POLICIES, withMaas: true });
}, 180_000);
afterEach(async () => {
  await workers?.stop();
  workers = null;
});
afterAll(() => world?.stop());

function work(policies: Record<string, number | boolean> = {}): void {
  const all = JSON.stringify({ ...POLICIES, ...policies });
  workers = keepWorkers(1, { ...world.env, TEST_POLICIES: all });
}

let last = 0;
async function addMachine(): Promise<{ machine: FakeMachine; nodeId: string }> {
  last += 1;
  const machine = world.maas!.add({ systemId: `root${last}`, hostname: `root-${last}` });
  await importMachine(world, machine.systemId, 'baremetal');
  return { machine, nodeId: await installed(machine, 1) };
}

/** Waits until the machine has become a host that often. */
async function installed({ systemId }: FakeMachine, times: number): Promise<string> {
  return await eventually(
    'the machine to be a host',
    async () => {
      const rows = await world.api.services.db
        .selectFrom('node_onboardings')
        .select(['node_id', 'state'])
        .where('maas_system_id', '=', systemId)
        .execute();
      return rows.length === times && rows.every(({ state }) => state === 'succeeded')
        ? rows[0]!.node_id
        : null;
    },
    MS,
  );
}

async function lease(nodeId: string): Promise<string> {
  const id = await world.leaseHost(nodeId);
  await world.waitFor([id], ['active'], MS);
  return id;
}

async function askedOf(allocationId: string) {
  const tasks = await world.api.services.db
    .selectFrom('node_tasks')
    .select(['kind', 'params', 'output'])
    .where('allocation_id', '=', allocationId)
    .orderBy('created_at')
    .execute();
  return tasks.map(({ kind, params, output }) => ({
    kind,
    root: (params as { root?: boolean }).root,
    privileged: (output as { privileged?: boolean } | null)?.privileged,
  }));
}

/** To its tenant, and to operators. */
async function rootShownOf(allocationId: string): Promise<(string | null)[]> {
  const { server, people } = world.api;
  const own = await server.inject({
    method: 'GET',
    url: `/api/v1/allocations/${allocationId}`,
    headers: { authorization: `Bearer ${people['member']!.apiKey}` },
  });
  const path = `/allocations/${allocationId}`;
  const detail = await ask<{ allocation: { root_granted_at: string | null } }>(
    world.api,
    'operator',
    'GET',
    path,
  );
  return [
    own.json<{ root_granted_at: string | null }>().root_granted_at,
    detail.body.allocation.root_granted_at,
  ];
}

async function liveClaims(allocationId: string): Promise<number> {
  const rows = await world.api.services.db
    .selectFrom('allocation_resource_claims')
    .select('id')
    .where('allocation_id', '=', allocationId)
    .where('released_at', 'is', null)
    .execute();
  return rows.length;
}

const proofsOf = (allocationId: string) =>
  world.api.services.db
    .selectFrom('host_cleanups')
    .select(['method', 'verified', 'maas_system_id'])
    .where('allocation_id', '=', allocationId)
    .execute();

async function openIncidents(nodeId: string): Promise<string[]> {
  const rows = await world.api.services.db
    .selectFrom('incidents')
    .select('summary')
    .where('type', '=', 'host_cleanup_blocked')
    .where('target_id', '=', nodeId)
    .where('resolved_at', 'is', null)
    .execute();
  return rows.map(({ summary }) => summary);
}

const certificatesOf = (nodeId: string) =>
  world.api.services.db
    .selectFrom('node_certificates')
    .select(['serial_number', 'revoked_at'])
    .where('node_id', '=', nodeId)
    .execute();

it('a tenant gets root, and afterwards the host is erased, reinstalled and has a new identity', async () => {
  work();
  const { machine, nodeId } = await addMachine();
  const id = await lease(nodeId);
  expect(await askedOf(id)).toEqual([{ kind: 'allocation.provision_user', root: true, privileged: true }]);
  expect(await rootShownOf(id)).toEqual([expect.stringMatching(/Z$/), expect.stringMatching(/Z$/)]);
  const before = await certificatesOf(nodeId);

  machine.disks.push('what the tenant left');
  expect(await world.post('member', `/allocations/${id}/release`)).toBe(202);
  await world.waitFor([id], ['released'], MS);
  expect(await proofsOf(id)).toEqual([
    { method: 'maas_erase', verified: true, maas_system_id: machine.systemId },
  ]);
  // Such a host is not asked for its word.
  expect((await askedOf(id)).map(({ kind }) => kind)).toEqual(['allocation.provision_user']);
  expect(machine.erasures).toEqual(['secure']);

  expect(await installed(machine, 2)).toBe(nodeId);
  expect(machine.disks).toEqual(['an operating system']);
  const old = new Set(before.map(({ serial_number }) => serial_number));
  const after = await certificatesOf(nodeId);
  expect(after.filter(({ serial_number, revoked_at }) => old.has(serial_number) && !revoked_at)).toEqual([]);
  expect(after.length).toBeGreaterThan(before.length);
  const worker = servicesAsRole(world.api.services, 'gpuaas_worker');
  await eventually(
    'the host to be known by its new key',
    async () => {
      await completeIdentityRotations(worker);
      const { body } = await ask<{ cordons: { reason: string }[] }>(
        world.api,
        'operator',
        'GET',
        `/nodes/${nodeId}`,
      );
      return body.cordons.some(({ reason }) => reason === 'identity_rotation') ? null : true;
    },
    MS,
  );
}, 240_000);

it('while MAAS cannot erase it, the host is held, and its own reports do not free it', async () => {
  work();
  const { machine, nodeId } = await addMachine();
  const id = await lease(nodeId);
  machine.faults.add('erasing fails');
  expect(await world.post('member', `/allocations/${id}/release`)).toBe(202);
  await world.waitFor([id], ['release_failed'], MS);
  expect(await openIncidents(nodeId)).toEqual([expect.stringContaining('failed disk erasing')]);
  expect([await liveClaims(id), await proofsOf(id)]).toEqual([1, []]);

  const { db } = world.api.services;
  const claim = async (): Promise<unknown> =>
    await db.transaction().execute(async (tx) => {
      await sql`insert into host_cleanups (id, allocation_id, node_id, node_task_id, method, verified, verification,
          started_at, finished_at)
        select gen_random_uuid(), ${id}, ${nodeId}, t.id, 'user_removed', true, 'nothing was found', now(), now()
        from node_tasks t where t.subject_id = ${id} limit 1`.execute(tx);
      return await sql`update allocation_resource_claims set released_at = now() where allocation_id = ${id}`.execute(
        tx,
      );
    });
  await expect(claim()).rejects.toThrow('has no verified cleanup');

  machine.faults.clear();
  expect(await world.post('operator', `/admin/allocations/${id}/retry-release`)).toBe(202);
  await world.waitFor([id], ['released'], MS);
  expect([await liveClaims(id), await openIncidents(nodeId)]).toEqual([0, []]);
  await installed(machine, 2);
}, 240_000);

it('a machine that was released manually is allocated again and erased', async () => {
  work();
  const { machine, nodeId } = await addMachine();
  const id = await lease(nodeId);
  machine.release(null);
  await eventually('MAAS to have it', async () => (machine.owner === null ? true : null), MS);
  expect(machine.erasures).toEqual([]);
  expect(await world.post('member', `/allocations/${id}/release`)).toBe(202);
  await world.waitFor([id], ['released'], MS);
  expect(machine.erasures).toEqual(['secure']);
  await installed(machine, 2);
}, 240_000);

it('a launch that fails after root was asked for ends with an erasure too', async () => {
  work();
  const { machine, nodeId } = await addMachine();
  const id = await world.leaseHost(nodeId);
  world.hosts.mood(id, 'allocation.provision_user', 'fails');
  await world.waitFor([id], ['failed'], MS);
  expect([await liveClaims(id), machine.erasures]).toEqual([0, ['secure']]);
  await installed(machine, 2);
}, 240_000);

it('grants no root on a host that MAAS did not install, or without the policy', async () => {
  work();
  const ours = await addNode(world.api, { hostname: 'by-hand' });
  world.hosts.add(ours);
  const byHand = await lease(ours);
  expect(await askedOf(byHand)).toEqual([
    { kind: 'allocation.provision_user', root: undefined, privileged: false },
  ]);
  expect(await rootShownOf(byHand)).toEqual([null, null]);
  const { machine, nodeId } = await addMachine();
  await workers!.stop();

  work({ [POLICY]: false });
  const id = await lease(nodeId);
  expect((await askedOf(id))[0]).toMatchObject({ root: undefined, privileged: false });
  for (const each of [byHand, id]) {
    expect(await world.post('member', `/allocations/${each}/release`)).toBe(202);
  }
  await world.waitFor([byHand, id], ['released'], MS);
  expect((await proofsOf(id)).map(({ method }) => method)).toEqual(['user_removed']);
  expect(machine.erasures).toEqual([]);
}, 240_000);

it('a host that gives root unasked has failed its task', async () => {
  work();
  const nodeId = await addNode(world.api, { hostname: 'generous' });
  world.hosts.add(nodeId);
  const id = await world.leaseHost(nodeId);
  world.hosts.mood(id, 'allocation.provision_user', 'dirty');
  await world.waitFor([id], ['failed'], MS);
  const task = await world.api.services.db
    .selectFrom('node_tasks')
    .select('error')
    .where('allocation_id', '=', id)
    .where('kind', '=', 'allocation.provision_user')
    .executeTakeFirstOrThrow();
  expect(task.error).toMatchObject({ code: 'output_invalid', detail: 'The user could become root.' });
});
