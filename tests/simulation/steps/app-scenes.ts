import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { observeGuest } from '@gpuaas/control-plane/domains/apps/executors/allocation/run-members';
import { eventually } from '../../harness/eventually.ts';
import { shellManifest } from '../../harness/apps/apps.ts';
import { localGuests } from '../../harness/apps/local-guests.ts';
import { keepWorkers } from '../lifecycle/keep-workers.ts';
import type { LifecycleWorld } from '../lifecycle/lifecycle-world.ts';
import type { Scenario } from './step-scenes.ts';

const SLUG = 'matrix';
/** Tells how often it was started, and runs until it is stopped. */
const SCRIPT = 'echo started >> "$HOME/starts"; exec sleep 100000';

const shared = { hostsFor: (runs: number) => Math.ceil(runs / 8) } as const;

/** Exactly one process while an instance runs, however its start was disturbed. */
export const appStartScene: Scenario = {
  workflow: 'app_instance.start',
  ...shared,
  async begin(world, steps, timeoutMs) {
    const allocations = await activeAllocations(world, steps.length, timeoutMs);
    const ids = [];
    for (const allocation of allocations) ids.push(await startApp(world, allocation));
    return ids.map((id) => `app-start:${id}`);
  },
  async ended(world, timeoutMs) {
    await appsAre(world, 'running', timeoutMs);
    for (const { allocation_id: id } of await apps(world)) {
      expect(await starts(world, id)).toBe(1);
      expect(await running(world, id)).toBe(1);
    }
  },
};

/** No process after a stop, with evidence. */
export const appStopScene: Scenario = {
  workflow: 'app_instance.stop',
  ...shared,
  async begin(world, steps, timeoutMs) {
    const allocations = await activeAllocations(world, steps.length, timeoutMs);
    const ids: string[] = [];
    await undisturbed(world, async () => {
      for (const allocation of allocations) ids.push(await startApp(world, allocation));
      await appsAre(world, 'running', timeoutMs);
    });
    for (const id of ids) expect(await world.post('member', `/app-instances/${id}/stop`)).toBe(202);
    return ids.map((id) => `app-stop:${id}`);
  },
  async ended(world, timeoutMs) {
    await appsAre(world, 'stopped', timeoutMs);
    for (const { allocation_id: id } of await apps(world)) expect(await running(world, id)).toBe(0);
    const members = await world.api.services.db
      .selectFrom('app_instance_members')
      .select('teardown')
      .execute();
    expect(members.filter(({ teardown }) => teardown?.proof !== 'observed')).toEqual([]);
  },
};

async function activeAllocations(world: LifecycleWorld, count: number, timeoutMs: number): Promise<string[]> {
  const path = `/admin/app-manifests/${SLUG}/versions`;
  expect(await world.post('operator', path, shellManifest(SCRIPT, { kind: 'service' }))).toBe(201);
  expect(await world.post('operator', `${path}/1/activate`)).toBe(200);
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await world.launch());
  await undisturbed(world, () => world.waitFor(ids, ['active'], timeoutMs));
  return ids;
}

async function undisturbed(world: LifecycleWorld, until: () => Promise<void>): Promise<void> {
  const workers = keepWorkers(1, world.env);
  try {
    await until();
  } finally {
    await workers.stop();
  }
}

async function startApp({ api }: LifecycleWorld, allocation_id: string): Promise<string> {
  const { apiKey, projectId } = api.people['member']!;
  const answer = await api.server.inject({
    method: 'POST',
    url: '/api/v1/app-instances',
    headers: { authorization: `Bearer ${apiKey}` },
    payload: { project_id: projectId, app_slug: SLUG, allocation_id },
  });
  expect(answer.statusCode, answer.body).toBe(202);
  return answer.json<{ id: string }>().id;
}

async function apps({ api }: LifecycleWorld) {
  return await api.services.db
    .selectFrom('app_instances')
    .select(['id', 'allocation_id', 'status'])
    .execute();
}

async function appsAre(world: LifecycleWorld, status: string, timeoutMs: number): Promise<void> {
  await eventually(
    `every app instance to be ${status}`,
    async () => ((await apps(world)).every((one) => one.status === status) ? true : null),
    timeoutMs,
  );
}

async function starts({ api }: LifecycleWorld, allocationId: string): Promise<number> {
  const text = await readFile(join(api.dataDir, 'guests', allocationId, 'starts'), 'utf8');
  return text.trim().split('\n').length;
}

async function running({ api }: LifecycleWorld, allocationId: string): Promise<number> {
  const guests = localGuests(join(api.dataDir, 'guests'));
  const { members } = await guests.visit(allocationId, observeGuest);
  return members.filter(({ state }) => state === 'running').length;
}
