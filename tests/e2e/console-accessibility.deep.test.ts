import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import { launchBody, waitForState } from '../harness/allocations/allocations.ts';
import { appIs, publish, runApp, shellManifest } from '../harness/apps/apps.ts';
import { chromiumPath } from '../harness/console/browser.ts';
import { consoleRoutes } from '../harness/console/console-routes.ts';
import { useConsole } from '../harness/console/console.ts';
import { eventually } from '../harness/eventually.ts';

const LOOKS = 4;
const PARAMETER = { name: 'steps', type: 'integer', title: 'Steps', default: '3' } as const;

/** What stands for `$name` in a path. */
const known: Record<string, string> = { policyName: 'auth.sign_in_idle_seconds' };

describe.skipIf(!chromiumPath)('accessibility of the console (needs chromium)', () => {
  const site = useConsole();

  beforeAll(async () => {
    const { member, operator, projectId } = site.platform;
    const allocation = await unwrap(member.POST('/api/v1/allocations', { body: launchBody(projectId, 2) }));
    await waitForState(member, allocation.id, 'active');
    const appSlug = 'failing-job';
    await publish(operator, appSlug, shellManifest('echo broken; exit 3', { parameters: [PARAMETER] }));
    const body = { project_id: projectId, app_slug: appSlug, allocation_id: allocation.id };
    const app = await runApp(member, body);
    await appIs(member, app.id, 'failed');
    await appIs(member, (await runApp(member, { ...body, retry_of: app.id })).id, 'failed');
    const [node] = (await unwrap(operator.GET('/api/v1/admin/nodes'))).items;
    const hostname = node!.hostname;
    const params = { path: { lab_hostname: hostname } };
    const faults = { faults: ['gpu_lost' as const] };
    await unwrap(operator.PUT('/api/v1/admin/lab/hosts/{lab_hostname}/faults', { params, body: faults }));
    const incident = await eventually('an incident', async () => {
      return (await unwrap(operator.GET('/api/v1/admin/incidents'))).items[0] ?? null;
    });
    const [task] = (await unwrap(operator.GET('/api/v1/admin/tasks'))).items;
    const [tenant] = (await unwrap(operator.GET('/api/v1/admin/tenants'))).items;
    Object.assign(known, {
      allocationId: allocation.id,
      appSlug,
      instanceId: app.id,
      nodeId: node!.id,
      incidentId: incident.id,
      taskId: task!.id,
      tenantId: tenant!.id,
    });
  }, 180_000);

  it('has no serious problem on any route, in both themes', async () => {
    const paths = consoleRoutes().map(withKnown);
    expect(paths.length).toBeGreaterThan(40);
    for (const [person, own] of Object.entries(byPerson(paths))) {
      const page = await site.signIn(person, '/sign-ins');
      for (const path of own) {
        await page.goto(site.platform.baseUrl + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await expect.poll(() => page.getByRole('status', { name: /^Loading/ }).count()).toBe(0);
        for (const colorScheme of ['dark', 'light'] as const) {
          await page.emulateMedia({ colorScheme });
          expect.soft(await lastingProblems(page), `${path}, ${colorScheme}`).toEqual([]);
        }
      }
      await page.context().close();
    }
  }, 540_000);
});

function byPerson(paths: string[]): Record<string, string[]> {
  const operators = paths.filter((path) => path.startsWith('/operator/'));
  return {
    'Tenant Admin': paths.filter((path) => !operators.includes(path)),
    'Platform Operator': operators,
  };
}

function withKnown(path: string): string {
  return path.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const value = known[name];
    if (!value) throw new Error(`say what stands for $${name} in ${path}`);
    return value;
  });
}

/** During the transition between themes no colour is final; real problems persist. */
async function lastingProblems(page: Page): Promise<string[]> {
  for (let look = 1; look < LOOKS; look += 1) {
    if ((await seriousProblems(page)).length === 0) return [];
    await page.waitForTimeout(1000);
  }
  return await seriousProblems(page);
}

async function seriousProblems(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
