import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chromiumPath } from '../harness/browser.ts';
import { useConsole } from '../harness/console.ts';

describe.skipIf(!chromiumPath)('accessibility of the console (needs chromium)', () => {
  const site = useConsole();

  it('has no serious problem on any list, in both themes', async () => {
    for (const [person, paths] of Object.entries(ROUTES)) {
      const page = await site.signIn(person, '/sessions');
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        for (const path of paths) {
          await page.goto(site.platform.baseUrl + path);
          await page.getByRole('heading', { level: 1 }).waitFor();
          await expect.poll(() => page.getByRole('status', { name: /^Loading/ }).count()).toBe(0);
          expect(await seriousProblems(page), `${path}, ${colorScheme}`).toEqual([]);
        }
      }
      await page.context().close();
    }
  }, 480_000);
});

const ROUTES = {
  'Tenant Admin': [
    '/allocations',
    '/launch?gpus=8',
    '/organization/members',
    '/organization/teams',
    '/organization/permissions',
    '/organization/service-accounts',
    '/organization/webhooks',
    '/organization/audit',
    '/billing',
    '/api-keys',
    '/ssh-keys',
    '/sessions',
  ],
  'Platform Operator': [
    '/operator/fleet',
    '/operator/nodes',
    '/operator/incidents',
    '/operator/cleanup',
    '/operator/tasks',
    '/operator/enrolments',
    '/operator/authorities',
    '/operator/products',
    '/operator/policies',
    '/operator/policies/auth.session_idle_seconds',
    '/operator/audit',
    '/operator/lab',
  ],
};

async function seriousProblems(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
