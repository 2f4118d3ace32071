import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyPair, sshLogin, type KeyPair } from '@gpuaas/node-agent/testing/ssh';
import { ProblemError, unwrap } from '@gpuaas/sdk/problem';
import { launch, launchBody, release, waitForState } from '../../harness/allocations/allocations.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 2 });
});
afterAll(() => platform?.stop());

describe('launch and release', () => {
  it('delivers a slice, then wipes it and gives its slots back', async () => {
    const { member, operator, projectId } = platform;
    const launched = await launch(member, projectId, 2);
    expect(launched).toMatchObject({
      state: 'reserved',
      gpu_count: 2,
      cost_so_far: { micros: 0, currency: 'USD' },
    });
    expect(launched.quote.per_hour.micros).toBe(2 * launched.quote.per_gpu_hour.micros);

    const active = await waitForState(member, launched.id, 'active');
    expect(active.states).toMatchObject({ desired: 'active', observed: 'running', execution: 'idle' });
    const path = { allocation_id: launched.id };
    const connection = await unwrap(
      member.GET('/api/v1/allocations/{allocation_id}/connection', { params: { path } }),
    );
    expect(connection).toMatchObject({
      username: 'ubuntu',
      lease_state: 'bound',
      actual_ip: connection.expected_ip,
      private_ip: connection.expected_ip,
      ssh_command: `ssh ubuntu@${connection.expected_ip}`,
      host_key_fingerprint: expect.stringMatching(/^SHA256:/),
    });
    await expect
      .poll(() => reportedNetwork(launched.id), { timeout: 60_000 })
      .toMatchObject({ expected_ip: connection.expected_ip, lease_state: 'bound' });
    await showsHowFar(launched.id, ['done', 'done', 'done', 'done', 'done', 'waiting']);

    const slots = await heldSlots(launched.id);
    expect(slots.map((slot) => slot.state)).toEqual(['in_use', 'in_use']);
    expect(new Set(slots.map((slot) => slot.node_id)).size).toBe(1);

    await release(member, launched.id);
    const released = await waitForState(member, launched.id, 'released');
    expect(released.states).toMatchObject({ desired: 'released', observed: 'absent', execution: 'idle' });
    const { items } = await unwrap(
      member.GET('/api/v1/allocations/{allocation_id}/wipe-certificates', { params: { path } }),
    );
    expect(items).toHaveLength(2);
    expect(items.every((certificate) => certificate.verified)).toBe(true);
    expect(await heldSlots(launched.id)).toEqual([]);
    await showsHowFar(launched.id, ['done', 'done', 'done', 'done', 'done', 'done']);
    const nodes = await unwrap(operator.GET('/api/v1/admin/nodes'));
    expect(nodes.items.map((node) => node.slot_counts.available)).toEqual([8, 8]);

    const timeline = await unwrap(
      member.GET('/api/v1/allocations/{allocation_id}/timeline', { params: { path, query: { limit: 200 } } }),
    );
    // Device addresses and serials are for operators.
    for (const { message } of timeline.items)
      expect(message).not.toMatch(/[0-9a-f]{4}:[0-9a-f]{2}:|S6CK|\/dev\//);
    const stages = [...new Set(timeline.items.map((entry) => entry.stage))];
    expect(stages).toEqual(
      expect.arrayContaining([
        'placement',
        'plan',
        'image',
        'vm',
        'readiness',
        'active',
        'release',
        'wipe',
        'released',
      ]),
    );
  });

  it('sells the processors and memory that were approved, though the product changed since', async () => {
    const { member, operator, projectId, services } = platform;
    const params = { path: { sku: 'h200-sxm-slice' } };
    const sell = (vcpu_per_gpu: number, memory_gib_per_gpu: number) =>
      unwrap(
        operator.PATCH('/api/v1/admin/skus/{sku}', {
          params,
          body: { resource_profile: { vcpu_per_gpu, memory_gib_per_gpu } },
        }),
      );
    await sell(28, 96);
    const { id } = await launch(member, projectId, 2);
    await waitForState(member, id, 'active');
    const claims = await services.db
      .selectFrom('allocation_resource_claims')
      .select('snapshot')
      .where('allocation_id', '=', id)
      .execute();
    expect(claims.map(({ snapshot }) => snapshot)).toMatchObject([
      { vcpu: 24, memory_gib: 64 },
      { vcpu: 24, memory_gib: 64 },
    ]);
    const task = await services.db
      .selectFrom('node_tasks')
      .select('params')
      .where('subject_id', '=', id)
      .where('kind', '=', 'slice.vm_provision')
      .executeTakeFirstOrThrow();
    expect(task.params).toMatchObject({ vcpu: 48, memory_gib: 128 });
    await sell(24, 64);
    await release(member, id);
    await waitForState(member, id, 'released');
  });

  it('refuses what does not fit on one node, says why and what would fit', async () => {
    const { member, projectId } = platform;
    const fillers = [await launch(member, projectId, 5), await launch(member, projectId, 5)];
    const refusal = await unwrap(
      member.POST('/api/v1/allocations', { body: launchBody(projectId, 6) }),
    ).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ProblemError);
    expect((refusal as ProblemError).problem).toMatchObject({
      code: 'sku_unavailable',
      status: 409,
      requested_gpu_count: 6,
      nearest_gpu_count: 3,
      reasons: [{ filter: 'enough_free_slots', nodes: 2 }],
    });
    for (const filler of fillers) {
      await release(member, filler.id);
      await waitForState(member, filler.id, 'released');
    }
  });

  it('never leases a slot twice to concurrent launches', async () => {
    const { member, projectId, services } = platform;
    const asked = await Promise.allSettled(Array.from({ length: 20 }, () => launch(member, projectId, 1)));
    const won = asked.filter((result) => result.status === 'fulfilled').map((result) => result.value);
    expect(won).toHaveLength(16);
    const claims = await services.db
      .selectFrom('allocation_resource_claims')
      .select('slot_id')
      .where('released_at', 'is', null)
      .execute();
    expect(new Set(claims.map((claim) => claim.slot_id)).size).toBe(16);
    for (const allocation of won) await release(member, allocation.id);
    for (const allocation of won) await waitForState(member, allocation.id, 'released');
  });

  it('makes one allocation of fifty equal requests and gives fifty equal answers', async () => {
    const { member, projectId } = platform;
    const headers = { 'X-Idempotency-Key': crypto.randomUUID() };
    const body = launchBody(projectId, 1);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        unwrap(member.POST('/api/v1/allocations', { body, params: { header: headers } })),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const other = await unwrap(
      member.POST('/api/v1/allocations', { body: { ...body, gpu_count: 2 }, params: { header: headers } }),
    ).catch((error: unknown) => error);
    expect(other).toMatchObject({ code: 'idempotency_key_reused' });
    await release(member, answers[0]!.id);
    await waitForState(member, answers[0]!.id, 'released');
  });

  it('answers for another tenant exactly as for something missing', async () => {
    const { member, stranger, projectId } = platform;
    const allocation = await launch(member, projectId, 1);
    const foreign = await problemOf(stranger, allocation.id);
    const missing = await problemOf(stranger, crypto.randomUUID());
    expect(foreign).toEqual(missing);
    await release(member, allocation.id);
    await waitForState(member, allocation.id, 'released');
  });
});

describe('SSH keys of a launch', () => {
  it('open the machine only to their owners, also when they are deleted later', async () => {
    const { member, admin, projectId } = platform;
    const [own, shared, foreign] = [createKeyPair(), createKeyPair(), createKeyPair()];
    const register = async (client: TestPlatform['member'], pair: KeyPair, project?: string) =>
      await unwrap(
        client.POST('/api/v1/ssh-keys', {
          body: { name: 'key', public_key: pair.public, ...(project ? { project_id: project } : {}) },
        }),
      );
    const ownKey = await register(member, own);
    const sharedKey = await register(admin, shared, projectId);
    const adminsKey = await register(admin, foreign);
    const body = launchBody(projectId, 1);
    const refusal = await unwrap(
      member.POST('/api/v1/allocations', { body: { ...body, ssh_key_ids: [ownKey.id, adminsKey.id] } }),
    ).catch((error: unknown) => error);
    expect((refusal as ProblemError).problem).toMatchObject({
      code: 'ssh_key_unknown',
      errors: [{ pointer: '/ssh_key_ids/1' }],
    });

    const ssh_key_ids = [ownKey.id, sharedKey.id];
    const { id } = await unwrap(member.POST('/api/v1/allocations', { body: { ...body, ssh_key_ids } }));
    await unwrap(
      member.DELETE('/api/v1/ssh-keys/{ssh_key_id}', { params: { path: { ssh_key_id: ownKey.id } } }),
    );
    await waitForState(member, id, 'active');
    for (const pair of [own, shared]) {
      const client = await sshLogin(await dialGuest(id), pair.private);
      client.end();
    }
    await expect(sshLogin(await dialGuest(id), foreign.private)).rejects.toThrow(/authentication/i);
    await release(member, id);
    await waitForState(member, id, 'released');
  });
});

/** The simulated machine's SSH port, on the loopback of its host. */
async function dialGuest(allocationId: string): Promise<Socket> {
  const hosts = join(platform.dataDir, 'hosts');
  const files = await readdir(hosts, { recursive: true });
  const run = files.find((file) => file.includes(allocationId) && file.endsWith('run.json'));
  const { ssh_port } = JSON.parse(await readFile(join(hosts, run!), 'utf8')) as { ssh_port: number };
  const socket = connect(ssh_port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** The network of the machine in the latest heartbeat of its host. */
async function reportedNetwork(allocationId: string) {
  const nodes = await platform.services.db.selectFrom('nodes').select('observed').execute();
  const machines = nodes.flatMap(({ observed }) => observed.vms ?? []);
  return machines.find(({ allocation_id }) => allocation_id === allocationId)?.network;
}

/** To the tenant in stages, to operators also with claims, quote and the tasks behind it. */
async function showsHowFar(allocationId: string, statuses: string[]): Promise<void> {
  const { member, operator } = platform;
  const params = { path: { allocation_id: allocationId } };
  const { items } = await unwrap(member.GET('/api/v1/allocations/{allocation_id}/progress', { params }));
  expect(items.map(({ status }) => status)).toEqual(statuses);
  const detail = await unwrap(operator.GET('/api/v1/admin/allocations/{allocation_id}', { params }));
  expect(detail.allocation).toMatchObject({ id: allocationId, capacity_shape: 'gpu_slice' });
  expect(detail.allocation.quote.per_hour.micros).toBeGreaterThan(0);
  expect(Object.keys(detail.allocation.states).toSorted()).toEqual([
    'desired',
    'execution',
    'observed',
    'projected',
  ]);
  expect(detail.claims.map(({ claim_kind }) => claim_kind)).toEqual(['slot', 'slot']);
  expect(detail.stages).toEqual(items);
  const [task] = detail.tasks;
  expect(task).toMatchObject({ state: 'succeeded', path: `/api/v1/admin/tasks/${task!.task_id}` });
  const listed = await unwrap(
    operator.GET('/api/v1/admin/allocations', { params: { query: { limit: 200 } } }),
  );
  expect(listed.items.map(({ id }) => id)).toContain(allocationId);
}

async function heldSlots(allocationId: string) {
  const { operator } = platform;
  const nodes = await unwrap(operator.GET('/api/v1/admin/nodes'));
  const slots = await Promise.all(
    nodes.items.map((node) =>
      unwrap(
        operator.GET('/api/v1/admin/nodes/{node_id}/resource-slots', {
          params: { path: { node_id: node.id } },
        }),
      ),
    ),
  );
  return slots.flatMap((page) => page.items).filter((slot) => slot.allocation_id === allocationId);
}

async function problemOf(client: TestPlatform['stranger'], allocationId: string) {
  const error = await unwrap(
    client.GET('/api/v1/allocations/{allocation_id}', { params: { path: { allocation_id: allocationId } } }),
  ).catch((caught: unknown) => caught);
  const { correlation_id: _, ...rest } = (error as ProblemError).problem;
  return rest;
}
