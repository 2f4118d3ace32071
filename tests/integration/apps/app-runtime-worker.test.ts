import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { watchLifecycle } from '@gpuaas/control-plane/domains/apps/watch-lifecycle';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, waitForState } from '../../harness/allocations/allocations.ts';
import {
  appEvents,
  appIs,
  getApp,
  publish,
  putPayload,
  runApp,
  shellManifest,
  stopApp,
} from '../../harness/apps/apps.ts';
import { eventually } from '../../harness/eventually.ts';
import { kill, startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

// Processes that start on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

let platform: TestPlatform;
let worker: ChildProcess;
let allocationId: string;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1, runWorker: false });
  worker = platform.spawnWorker();
  const { member, projectId } = platform;
  ({ id: allocationId } = await launch(member, projectId, 1));
  await waitForState(member, allocationId, 'active', 120_000);
});
afterAll(() => platform?.stop());

const run = (app_slug: string) =>
  runApp(platform.member, { project_id: platform.projectId, app_slug, allocation_id: allocationId });

/** Incidents of the instance after the watch has looked, at this time. */
async function incidents(id: string, now = new Date()): Promise<{ summary: string; resolved: boolean }[]> {
  const services = servicesAsRole({ ...platform.services, clock: { now: () => now } }, 'gpuaas_worker');
  await watchLifecycle.run(services, { from: now, to: now });
  const { rows } = await sql<{ summary: string; resolved: boolean }>`
    select summary, resolved_at is not null as resolved from incidents
    where type = 'app_runtime_lifecycle' and target_id = ${id}`.execute(platform.services.db);
  return rows;
}

const setDue = (id: string, seconds: number) =>
  sql`update app_instances set due_at = now() + make_interval(secs => ${seconds}) where id = ${id}`.execute(
    platform.services.db,
  );

let id: string;

it('the worker leaves instances to the runtime: without it a start is stuck, which is an incident', async () => {
  const { operator, member, projectId } = platform;
  const ask = `fetch(process.env.GPUAAS_URL + '/api/v1/allocations/${allocationId}',
    { headers: { authorization: 'Bearer ' + process.env.GPUAAS_API_KEY } })`;
  const program = `const ask = () => ${ask}.then((answer) => console.log('answer', answer.status),
    () => setTimeout(ask, 200)); ask(); setInterval(() => 0, 1000);`;
  const manifest = shellManifest('', {
    kind: 'service',
    platform_access: ['allocation.read'],
    runtime: { command: ['node', '-e', program] },
  });
  await publish(operator, 'caller', manifest);
  ({ id } = await run('caller'));
  // What the worker did later, it did.
  const { id: other } = await launch(member, projectId, 1);
  await waitForState(member, other, 'active', 120_000);
  expect(await getApp(member, id)).toMatchObject({ status: 'starting' });
  expect(await incidents(id)).toEqual([]);
  await setDue(id, -120);
  expect(await incidents(id)).toEqual([
    { summary: expect.stringContaining('caller is starting and should have moved on by'), resolved: false },
  ]);
  await setDue(id, 300);
});

it('the runtime in a separate process starts the waiting instance, serves it the platform, and the incident closes', async () => {
  const { member } = platform;
  platform.spawnAppRuntime();
  await appIs(member, id, 'running');
  expect(await incidents(id)).toMatchObject([{ resolved: true }]);
  const log = await eventually(
    'the answer of the platform',
    async () => {
      const part = await unwrap(
        member.GET('/api/v1/app-instances/{app_instance_id}/logs', {
          params: { path: { app_instance_id: id }, query: { offset: 0, wait_seconds: 5 } },
        }),
      );
      return part.content || null;
    },
    90_000,
  );
  expect(log).toBe('answer 200\n');
  await stopApp(member, id);
  await appIs(member, id, 'stopped');
  const proof = (await appEvents(member, id)).find((one) => one.event_type === 'teardown_proved');
  expect(proof?.payload).toMatchObject({ proof: 'observed', processes: 0 });
});

it('a failure of the platform is an incident for an hour', async () => {
  const { operator, member, baseUrl, keys, dataDir } = platform;
  const payload = Buffer.from('#!/bin/sh\ntrue\n');
  const artifact_ref = await putPayload(baseUrl, keys.operator, payload);
  const runtime = { command: ['./payload'] };
  await publish(operator, 'lost', shellManifest('', { artifact_ref, artifact_format: 'file', runtime }));
  // The store is damaged: the content is gone from it.
  const digits = createHash('sha256').update(payload).digest('hex');
  await rm(join(dataDir, 'blobs', 'sha256', digits.slice(0, 2), digits.slice(2, 4), digits));
  const { id: lost } = await run('lost');
  expect(await appIs(member, lost, 'failed')).toMatchObject({ reason: 'digest_mismatch' });
  expect(await incidents(lost)).toMatchObject([{ resolved: false }]);
  // Its watch would open the incident again, by its own clock.
  await kill(worker);
  expect(await incidents(lost, new Date(Date.now() + 2 * 3_600_000))).toMatchObject([{ resolved: true }]);
});

it('the role of the runtime does what guests need, and nothing of money, people or placement', async () => {
  const { db } = servicesAsRole(platform.services, 'gpuaas_app_runtime');
  for (const statement of [
    'select from ledger_entries',
    'select from users',
    'select from api_keys',
    "update allocations set state = 'released'",
    'delete from app_instances',
    'insert into app_instance_members (id) values (gen_random_uuid())',
    'update app_manifests set active = false',
  ])
    await expect(sql.raw(statement).execute(db), statement).rejects.toThrow('permission denied');
});
