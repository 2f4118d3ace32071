import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { ProblemError, unwrap } from '@gpuaas/sdk/problem';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { launch, waitForState } from '../../harness/allocations/allocations.ts';
import { appIs, putPayload, shellManifest } from '../../harness/apps/apps.ts';
import { eventually } from '../../harness/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

type Artifact = components['schemas']['AppArtifact'];
type Version = components['schemas']['PublishAppManifestVersion'];

const REASON = 'In a test';
const SERVICE = `#!/bin/sh
exec node -e 'require("http").createServer((q, r) => r.end("up")).listen(18471, "127.0.0.1")'
`;

// Machines and apps that start on a busy machine.
vi.setConfig({ testTimeout: 400_000 });

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  await setPolicy('apps.smoke_run', 'required');
});
afterAll(() => platform?.stop());

async function setPolicy(policy_key: string, value: string | number): Promise<void> {
  const { baseUrl, keys, services } = platform;
  const answer = await fetch(`${baseUrl}/api/v1/admin/policies/${policy_key}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${keys.operator}`, 'content-type': 'application/json' },
    body: JSON.stringify({ value, reason: REASON }),
  });
  expect(answer.status, await answer.text()).toBeLessThan(300);
  await services.policies.refresh();
}

/** A draft with one version; its digest. */
async function draft(slug: string, payload: string, change: Partial<Version> & { runtime?: object } = {}) {
  const { baseUrl, keys, operator } = platform;
  const artifact_digest = await putPayload(baseUrl, keys.operator, Buffer.from(payload));
  const body = shellManifest('', {
    artifact_ref: artifact_digest,
    artifact_format: 'file',
    ...change,
    runtime: { command: ['./payload'], ...change.runtime },
  });
  await unwrap(
    operator.POST('/api/v1/admin/app-manifests/{app_slug}/versions', {
      params: { path: { app_slug: slug } },
      body,
    }),
  );
  return { path: { artifact_digest } };
}

const getArtifact = (params: { path: { artifact_digest: string } }): Promise<Artifact> =>
  unwrap(platform.operator.GET('/api/v1/admin/app-artifacts/{artifact_digest}', { params }));
const run = (params: { path: { artifact_digest: string } }): Promise<Artifact> =>
  unwrap(
    platform.operator.POST('/api/v1/admin/app-artifacts/{artifact_digest}/smoke-runs', {
      params,
      body: { reason: REASON },
    }),
  );
const stage = (params: { path: { artifact_digest: string } }, waive_smoke_run = false): Promise<Artifact> =>
  unwrap(
    platform.operator.POST('/api/v1/admin/app-artifacts/{artifact_digest}/stage', {
      params,
      body: { reason: REASON, waive_smoke_run },
    }),
  );

async function refused(asked: Promise<unknown>) {
  const error = await asked.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ProblemError)) throw new Error('it was not refused', { cause: error });
  return error.problem;
}

async function ended(params: { path: { artifact_digest: string } }): Promise<Artifact> {
  return await eventually(
    'the end of the smoke run',
    async () => {
      const artifact = await getArtifact(params);
      return artifact.smoke_run?.state === 'running' ? null : artifact;
    },
    180_000,
  );
}

it('a draft is staged after a smoke run that passed, which needs capacity of the platform', async () => {
  const { member, projectId, operator, services } = platform;
  const broken = await draft('broken-job', '#!/bin/sh\nexit 3\n');
  const service = await draft('healthy-service', SERVICE, {
    kind: 'service',
    runtime: {
      ports: [{ name: 'web', port: 18_471, protocol: 'http' }],
      readiness: { port: 'web', path: '/', timeout_seconds: 120 },
    },
  });
  expect(await refused(stage(service))).toMatchObject({ code: 'artifact_smoke_run' });
  const activate = operator.POST('/api/v1/admin/app-manifests/{app_slug}/versions/{app_version}/activate', {
    params: { path: { app_slug: 'healthy-service', app_version: '1' } },
  });
  expect(await refused(unwrap(activate))).toMatchObject({ code: 'artifact_smoke_run' });
  expect(await refused(run(service))).toMatchObject({ code: 'smoke_run_capacity', reason: 'capacity' });
  await setPolicy('apps.smoke_run_project', projectId);
  expect(await refused(run(service))).toMatchObject({ code: 'smoke_run_capacity' });

  const { id: allocationId } = await launch(member, projectId, 1);
  await waitForState(member, allocationId, 'active');
  const started = await run(service);
  expect(started).toMatchObject({ state: 'draft', smoke_run: { state: 'running', project_id: projectId } });
  // A second request gets the same run.
  expect((await run(service)).smoke_run?.app_instance_id).toBe(started.smoke_run?.app_instance_id);
  await run(broken);

  expect(await ended(broken)).toMatchObject({
    state: 'draft',
    smoke_run: { state: 'failed', reason: 'exit_nonzero' },
  });
  expect(await refused(stage(broken))).toMatchObject({
    code: 'artifact_smoke_run',
    smoke_run: { state: 'failed', reason: 'exit_nonzero' },
  });

  expect(await ended(service)).toMatchObject({ smoke_run: { state: 'passed', reason: null } });
  const staged = await stage(service);
  expect(staged).toMatchObject({ state: 'staged', smoke_waiver: null, smoke_run: { state: 'passed' } });
  const instanceId = started.smoke_run!.app_instance_id;
  expect(staged.smoke_run?.app_instance_id).toBe(instanceId);
  expect(await appIs(member, instanceId, 'stopped')).toMatchObject({ app_slug: 'healthy-service' });
  const audited = await services.db
    .selectFrom('audit_logs')
    .select(['before', 'after', 'detail'])
    .where('target_id', '=', service.path.artifact_digest)
    .where('action', '=', 'app_artifact.stage')
    .where('result', '=', 'succeeded')
    .execute();
  expect(audited).toMatchObject([
    { before: { state: 'draft' }, after: { state: 'staged' }, detail: { reason: REASON } },
  ]);
  expect(JSON.stringify(audited)).toContain('smoke_run_id');
});

it('a run that waits for a gate fails at its deadline with what it waits for', async () => {
  const { services } = platform;
  const waiting = await draft('waiting-job', '#!/bin/sh\nexit 0\n');
  await setPolicy('quotas.project_app_instances', 0);
  await setPolicy('apps.smoke_run_timeout_seconds', 10);
  await run(waiting);
  const failed = await ended(waiting);
  expect(failed).toMatchObject({ state: 'draft', smoke_run: { state: 'failed', reason: 'quota' } });
  const instance = await services.db
    .selectFrom('app_instances')
    .select('status')
    .where('id', '=', failed.smoke_run!.app_instance_id)
    .executeTakeFirstOrThrow();
  expect(instance.status).toBe('stopped');
});

it('a waiver stays with the artifact and needs the right to change the policy', async () => {
  const { services } = platform;
  const waived = await draft('waived-job', '#!/bin/sh\nexit 4\n');
  expect(await stage(waived, true)).toMatchObject({
    state: 'staged',
    smoke_run: null,
    smoke_waiver: REASON,
  });
  const denied = await draft('denied-job', '#!/bin/sh\nexit 5\n');
  await services.db
    .updateTable('permission_bindings')
    .set({ permission_group: 'app_publisher' })
    .where('permission_group', '=', 'platform_admin')
    .execute();
  await services.db
    .deleteFrom('permission_bindings')
    .where('permission_group', '=', 'fleet_operator')
    .execute();
  expect(await refused(stage(denied, true))).toMatchObject({ code: 'forbidden' });
  expect(await refused(stage(denied))).toMatchObject({ code: 'artifact_smoke_run' });
});
