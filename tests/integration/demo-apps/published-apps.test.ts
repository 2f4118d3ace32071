import { publishDemoApps } from '@gpuaas/lab/publish-demo-apps';
import { unwrap } from '@gpuaas/sdk/problem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launch, waitForState } from '../../harness/allocations/allocations.ts';
import { appIs, appLog, runApp, stopApp } from '../../harness/apps/apps.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

let platform: TestPlatform;

beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  await publishDemoApps(platform.operator);
});
afterAll(() => platform?.stop());

const catalog = async () =>
  (await unwrap(platform.member.GET('/api/v1/app-manifests', { params: { query: { limit: 200 } } }))).items;
const allVersions = async (app_slug: string) =>
  (
    await unwrap(
      platform.operator.GET('/api/v1/admin/app-manifests/{app_slug}/versions', {
        params: { path: { app_slug }, query: { limit: 200 } },
      }),
    )
  ).items;

it('are in the catalog, published once however often the platform starts', async () => {
  const slugs = ['hello-web', 'notebook', 'tiny-llm', 'word-count'];
  expect((await catalog()).map(({ slug }) => slug)).toEqual(slugs);
  await publishDemoApps(platform.operator);
  for (const slug of slugs) expect(await allVersions(slug)).toMatchObject([{ state: 'active' }]);
});

it('run on a slice: services answer and stop without a trace, the job ends with its result', async () => {
  const { member, projectId: project_id } = platform;
  const { id: allocation_id } = await launch(member, project_id, 1);
  await waitForState(member, allocation_id, 'active');
  const services = ['notebook', 'tiny-llm', 'hello-web'];
  const running = await Promise.all(
    services.map((app_slug) => runApp(member, { project_id, app_slug, allocation_id })),
  );
  for (const { id } of running) await appIs(member, id, 'running');
  const job = await runApp(member, {
    project_id,
    app_slug: 'word-count',
    allocation_id,
    parameters: [
      { name: 'input', value: '/etc/hostname' },
      { name: 'top', value: '1' },
    ],
  });
  expect(await appIs(member, job.id, 'succeeded')).toMatchObject({ exit_code: 0 });
  expect(await appLog(member, job.id)).toContain('"event":"done","files":1');
  for (const { id } of running) await stopApp(member, id);
  for (const { id } of running)
    expect(await appIs(member, id, 'stopped')).toMatchObject({ teardown: { state: 'proved' } });
});

it('stay out of the catalog when an operator withdraws one', async () => {
  await unwrap(
    platform.operator.POST('/api/v1/admin/app-manifests/{app_slug}/withdraw', {
      params: { path: { app_slug: 'hello-web' } },
    }),
  );
  await publishDemoApps(platform.operator);
  expect((await catalog()).map(({ slug }) => slug)).toEqual(['notebook', 'tiny-llm', 'word-count']);
});
