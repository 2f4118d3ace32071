import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import { getAllocation, launch, release, waitForState } from '../../harness/allocations/allocations.ts';
import {
  appEvents,
  appIs,
  appLog,
  getApp,
  publish,
  putPayload,
  runApp,
  shellManifest,
  stopApp,
  type AppInstance,
} from '../../harness/apps/apps.ts';
import { eventually } from '../../harness/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';
import { OciClient } from '../../harness/registry/oci-client.ts';

let platform: TestPlatform;
let allocationId: string;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  const { member, projectId } = platform;
  ({ id: allocationId } = await launch(member, projectId, 1));
  await waitForState(member, allocationId, 'active');
});
afterAll(() => platform?.stop());

const on = (app_slug: string, more: object = {}) => ({
  project_id: platform.projectId,
  app_slug,
  allocation_id: allocationId,
  ...more,
});

const listed = async (filter: { attempts_of?: string; status?: AppInstance['status'] }) => {
  const query = { project_id: platform.projectId, ...filter };
  const { items } = await unwrap(platform.member.GET('/api/v1/app-instances', { params: { query } }));
  return items.map(({ id }) => id);
};

describe('a job', () => {
  it('runs its payload with parameters and secrets, and its log survives it without them', async () => {
    const { operator, admin, member, baseUrl, keys, projectId } = platform;
    const payload = Buffer.from('#!/bin/sh\necho "steps $PARAM_STEPS"\necho "token $API_TOKEN"\necho done\n');
    const artifact_ref = await putPayload(baseUrl, keys.operator, payload);
    await unwrap(
      admin.PUT('/api/v1/project-secrets/{secret_name}', {
        params: { path: { secret_name: 'API_TOKEN' } },
        body: { project_id: projectId, value: 's3cret-of-the-job' },
      }),
    );
    const job = shellManifest('', {
      artifact_ref,
      artifact_format: 'file',
      secrets: ['API_TOKEN'],
      parameters: [{ name: 'steps', type: 'integer', minimum: 1, default: '3' }],
      runtime: { command: ['./payload'] },
    });
    await publish(operator, 'payload-job', job);
    const { id } = await runApp(member, on('payload-job', { parameters: [{ name: 'steps', value: '7' }] }));
    const ended = await appIs(member, id, 'succeeded');
    expect(ended).toMatchObject({ exit_code: 0, reason: null, teardown: { state: 'proved' } });
    expect(await appLog(member, id)).toBe('steps 7\ntoken ***\ndone\n');
    const events = (await appEvents(member, id)).map(({ event_type: type }) => type);
    expect(events).toEqual([
      'created',
      'starting',
      'member_added',
      'start_completed',
      'member_removed',
      'teardown_proved',
      'succeeded',
    ]);
  });

  it('has a log that is read past the pieces whose time is over, and that ends without any', async () => {
    const { member, operator, services } = platform;
    await publish(operator, 'short-job', shellManifest('echo kept'));
    const { id } = await runApp(member, on('short-job'));
    await appIs(member, id, 'succeeded');
    expect(await appLog(member, id)).toBe('kept\n');
    const read = async () =>
      await unwrap(
        member.GET('/api/v1/app-instances/{app_instance_id}/logs', {
          params: { path: { app_instance_id: id }, query: { offset: 0 } },
        }),
      );
    const { member_id } = await read();
    // More than one answer holds stood before what is kept.
    const gone = 300_000n;
    const pieces = services.db.updateTable('app_log_pieces').where('member_id', '=', member_id);
    await pieces.set((e) => ({ first_byte: e('first_byte', '+', gone) })).execute();
    expect(await read()).toMatchObject({ offset: Number(gone), content: 'kept\n', complete: false });
    await services.db.deleteFrom('app_log_pieces').where('member_id', '=', member_id).execute();
    expect(await read()).toMatchObject({ content: '', complete: true });
  });

  it('runs the bytes that its tag named at registration, also after the tag moved', async () => {
    const { operator, member, baseUrl, keys } = platform;
    const registry = new OciClient(baseUrl, keys.operator);
    const repository = 'system/apps/moving';
    const first = await registry.pushImage(repository, 'latest', '#!/bin/sh\necho first\n');
    const { artifact_ref } = await unwrap(
      operator.POST('/api/v1/admin/app-artifacts', { body: { repository, reference: 'latest' } }),
    );
    expect(artifact_ref).toBe(`${new URL(baseUrl).host}/${repository}@${first}`);
    const runtime = { command: ['./payload'] };
    await publish(
      operator,
      'moving-job',
      shellManifest('', { artifact_ref, artifact_format: 'file', runtime }),
    );
    await registry.pushImage(repository, 'latest', '#!/bin/sh\necho second\n');
    const { id } = await runApp(member, on('moving-job'));
    await appIs(member, id, 'succeeded');
    expect(await appLog(member, id)).toBe('first\n');
  });

  it('that fails says how, and the next attempt is another instance', async () => {
    const { operator, member } = platform;
    await publish(operator, 'failing-job', shellManifest('echo broken; exit 3'));
    const { id } = await runApp(member, on('failing-job'));
    const ended = await appIs(member, id, 'failed');
    expect(ended).toMatchObject({ exit_code: 3, reason: 'exit_nonzero', attempt: 1 });
    expect(await appLog(member, id)).toBe('broken\n');
    const retry = await runApp(member, on('failing-job', { retry_of: id }));
    expect(retry).toMatchObject({ retry_of: id, attempt: 2 });
    await appIs(member, retry.id, 'failed');
    const third = await runApp(member, on('failing-job', { retry_of: retry.id }));
    await appIs(member, third.id, 'failed');
    for (const one of [id, retry.id, third.id])
      expect(await listed({ attempts_of: one })).toEqual([third.id, retry.id, id]);
    expect(await listed({ status: 'failed' })).toEqual([third.id, retry.id, id]);
    expect(await listed({ attempts_of: id, status: 'running' })).toEqual([]);
  });

  it('names its allocation', async () => {
    const { member } = platform;
    const { name } = await getAllocation(member, allocationId);
    const [id] = await listed({ status: 'succeeded' });
    expect(await getApp(member, id ?? '')).toMatchObject({ allocation_name: name });
  });
});

const SERVER = `
const http = require('node:http');
http.createServer((q, s) => s.end('hello')).listen(8123, () => console.log('listening'));
`;

describe('a service', () => {
  it('runs once its port answers, and is stopped without a trace', async () => {
    const { operator, member } = platform;
    const service = shellManifest('', {
      kind: 'service',
      runtime: {
        command: ['node', '-e', SERVER],
        ports: [{ name: 'web', port: 8123, protocol: 'http' }],
        readiness: { port: 'web', path: '/', timeout_seconds: 60 },
      },
    });
    await publish(operator, 'web', service);
    const { id } = await runApp(member, on('web'));
    await appIs(member, id, 'running');
    // A second one would listen on the same port.
    const second = await member.POST('/api/v1/app-instances', { body: on('web') });
    expect(second.error).toMatchObject({ code: 'app_port_taken' });
    const { items: members } = await unwrap(
      member.GET('/api/v1/app-instances/{app_instance_id}/members', {
        params: { path: { app_instance_id: id } },
      }),
    );
    expect(members).toMatchObject([{ status: 'running', ports: [8123], role: 'node' }]);
    expect((await stopApp(member, id)).desired).toBe('stop');
    expect(await appIs(member, id, 'stopped')).toMatchObject({
      reason: 'cancelled',
      teardown: { state: 'proved' },
    });
    const proof = (await appEvents(member, id)).find((one) => one.event_type === 'teardown_proved');
    expect(proof?.payload).toMatchObject({ proof: 'observed', processes: 0, ports: [], files: false });
    expect((await runApp(member, on('web'))).status).toBe('starting');
  });

  it('ends with its allocation, which waits for it', async () => {
    const { operator, member, projectId } = platform;
    const { id: other } = await launch(member, projectId, 1);
    await waitForState(member, other, 'active');
    await publish(operator, 'sleeper', shellManifest('sleep 1000', { kind: 'service' }));
    const { id } = await runApp(member, { ...on('sleeper'), allocation_id: other });
    await appIs(member, id, 'running');
    await release(member, other);
    await waitForState(member, other, 'released');
    const ended = await getApp(member, id);
    expect(ended).toMatchObject({ status: 'stopped', teardown: { state: 'proved' } });
    const proof = (await appEvents(member, id)).find((one) => one.event_type === 'teardown_proved');
    expect(proof?.payload).toMatchObject({ proof: 'observed' });
  });
});

describe('a launch', () => {
  it('waits at the quota, with its numbers, and goes on when there is room', async () => {
    const { operator, admin, member, projectId } = platform;
    const organization_id = (await unwrap(member.GET('/api/v1/me'))).organizations[0]!.id;
    await publish(operator, 'napper', shellManifest('sleep 1000', { kind: 'service' }));
    const live = await unwrap(
      member.GET('/api/v1/app-instances', { params: { query: { project_id: projectId, live: true } } }),
    );
    const limit = live.items.length + 1;
    const quota = (value: number) =>
      unwrap(
        admin.PUT('/api/v1/organizations/{organization_id}/quotas', {
          params: { path: { organization_id } },
          body: { holder: { type: 'project', id: projectId }, measure: 'app_instances', limit: value },
        }),
      );
    await quota(limit);
    const first = await runApp(member, on('napper'));
    const second = await runApp(member, on('napper'));
    expect(second).toMatchObject({
      status: 'created',
      reason: 'quota',
      waiting_for: {
        gate: 'quota',
        outcome: 'wait',
        message: `The project runs ${limit} of ${limit} app instances.`,
      },
    });
    await appIs(member, first.id, 'running');
    await stopApp(member, first.id);
    await appIs(member, first.id, 'stopped');
    await appIs(member, second.id, 'running');
    expect((await getApp(member, second.id)).waiting_for).toBeNull();
    await quota(100_000);
    await stopApp(member, second.id);
  });

  it('is refused where the judge says so, which the dry run says before', async () => {
    const { operator, member, projectId } = platform;
    const big = shellManifest('true');
    await publish(operator, 'big', { ...big, compatibility: { ...big.compatibility, min_gpu_count: 8 } });
    const dryRun = () =>
      unwrap(
        member.GET('/api/v1/app-manifests/{app_slug}/compatibility', {
          params: { path: { app_slug: 'big' }, query: { project_id: projectId } },
        }),
      );
    const dry = await dryRun();
    const target = dry.items.find((one) => one.allocation_id === allocationId);
    expect(target).toMatchObject({ compatible: false, refusals: [{ code: 'gpu_count' }], gate: null });
    const { name, quote } = await getAllocation(member, allocationId);
    expect(target).toMatchObject({ name, per_hour: quote.per_hour });
    expect(dry.request_price).toBeNull();
    const price = { price: { currency: 'USD', micros: 500 }, per: 1000 };
    const priced = { app: 'big', dimension: 'requests' as const, ...price };
    await unwrap(operator.POST('/api/v1/admin/app-usage-prices', { body: priced }));
    expect((await dryRun()).request_price).toEqual(price);
    const { error } = await member.POST('/api/v1/app-instances', { body: on('big') });
    expect(error).toMatchObject({ code: 'app_incompatible', refusals: [{ code: 'gpu_count' }] });
  });

  it('cannot bypass the allocation: not in another project, not released, not without its claims', async () => {
    const { operator, member, stranger, projectId, services } = platform;
    await publish(operator, 'plain', shellManifest('true'));
    const foreign = await stranger.POST('/api/v1/app-instances', { body: on('plain') });
    expect(foreign.response.status).toBe(404);
    const { id: gone } = await launch(member, projectId, 1);
    await waitForState(member, gone, 'active');
    await release(member, gone);
    await waitForState(member, gone, 'released');
    const late = await member.POST('/api/v1/app-instances', {
      body: { ...on('plain'), allocation_id: gone },
    });
    expect(late.error).toMatchObject({ code: 'app_rejected' });
    // The database refuses what a broken use-case would write.
    const { id } = await runApp(member, on('plain'));
    const row = await services.db
      .selectFrom('app_instances')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const write = services.db
      .insertInto('app_instance_members')
      .values({
        id: gone,
        organization_id: row.organization_id,
        instance_id: id,
        allocation_id: gone,
        role: 'node',
        status: 'starting',
        ports: [],
      })
      .execute();
    await expect(write).rejects.toThrow('has no capacity to start on');
    await appIs(member, id, 'succeeded');
  });
});

it('the database refuses an end without evidence', async () => {
  const { operator, member, services } = platform;
  await publish(operator, 'honest', shellManifest('sleep 1000', { kind: 'service' }));
  const { id } = await runApp(member, on('honest'));
  await appIs(member, id, 'running');
  const end = { status: 'stopped', ended_at: new Date() } as const;
  await expect(
    services.db.updateTable('app_instances').set(end).where('id', '=', id).execute(),
  ).rejects.toThrow('has a member that has not ended');
  await expect(
    services.db.updateTable('app_instance_members').set(end).where('instance_id', '=', id).execute(),
  ).rejects.toThrow('app_members_teardown');
  const lie = { proof: 'observed', processes: 1, ports: [], files: false };
  await expect(
    services.db
      .updateTable('app_instance_members')
      .set({ ...end, teardown: JSON.stringify(lie), teardown_proved_at: new Date() })
      .where('instance_id', '=', id)
      .execute(),
  ).rejects.toThrow('app_members_evidence');
  await stopApp(member, id);
  await appIs(member, id, 'stopped');
  await expect(
    services.db.updateTable('app_instances').set({ status: 'running' }).where('id', '=', id).execute(),
  ).rejects.toThrow('has ended as stopped');
  await eventually('quota counters equal to the instances', async () => {
    const { verifyQuotas } = await import('@gpuaas/control-plane/domains/quotas/verify-quotas');
    return (await verifyQuotas(services.db, 10)).length === 0 ? true : null;
  });
});
