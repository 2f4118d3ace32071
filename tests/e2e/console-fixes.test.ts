import { describe, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, release, waitForState } from '../harness/allocations/allocations.ts';
import { chromiumPath } from '../harness/console/browser.ts';
import { useConsole } from '../harness/console/console.ts';
import { eventually } from '../harness/eventually.ts';

const DAY_MS = 86_400_000;
const PHONE = { width: 390, height: 844 };

/** Each was seen wrong once. */
describe.skipIf(!chromiumPath)('the console (needs chromium)', () => {
  const site = useConsole({ nodes: 1 });

  it('greets a newcomer, and nobody who has launched before', async () => {
    const { member, projectId } = site.platform;
    const page = await site.signIn('Tenant Member', '/overview');
    await page.getByRole('heading', { name: 'Your first GPU is a minute away' }).waitFor();
    const { id } = await launch(member, projectId, 1);
    await waitForState(member, id, 'active', 90_000);
    await release(member, id);
    await waitForState(member, id, 'released', 90_000);
    await page.reload();
    await page.getByRole('heading', { name: 'Running' }).waitFor();
    expect(await page.getByText('Your first GPU is a minute away').count()).toBe(0);
    await page.context().close();
  }, 240_000);

  it('draws costs over time with axes, a table and a file', async () => {
    const { admin, member, projectId } = site.platform;
    const [acme] = (await unwrap(admin.GET('/api/v1/me'))).organizations;
    // The end of a lease records its last usage, in whole seconds.
    const lease = await launch(member, projectId, 1);
    const { active_at } = await waitForState(member, lease.id, 'active');
    await expect.poll(() => Date.now() - Date.parse(active_at!), { timeout: 60_000 }).toBeGreaterThan(2_500);
    await release(member, lease.id);
    await waitForState(member, lease.id, 'released');
    const day = new Date().toISOString().slice(0, 10);
    const query = {
      organization_id: acme!.id,
      from: `${day}T00:00:00.000Z`,
      to: new Date(Date.now() + DAY_MS).toISOString(),
      group_by: 'day' as const,
    };
    await eventually(
      'costs of today',
      async () => {
        const costs = await unwrap(admin.GET('/api/v1/billing/reports/costs', { params: { query } }));
        return costs.items.length > 0 ? costs : null;
      },
      180_000,
    );
    const page = await site.signIn('Tenant Admin', '/billing');
    const chart = page.getByRole('figure', { name: 'Costs by day in USD' });
    await chart.locator('canvas').waitFor({ timeout: 60_000 });
    await chart.getByText(/\d+ points\. Cost: lowest \$0\.00\d*, highest \$/).waitFor({ state: 'attached' });
    await chart.getByText('Table and download').click();
    await chart.getByRole('row', { name: new RegExp(`^${day}`) }).waitFor();
    const download = page.waitForEvent('download');
    await chart.getByRole('button', { name: 'Download CSV' }).click();
    expect((await download).suggestedFilename()).toBe('Costs by day in USD.csv');
    await page.context().close();
  }, 300_000);

  it('launches on a phone without a horizontal scroll bar', async () => {
    const line = `ssh-ed25519 ${KEY}`;
    const body = { name: 'a key with a rather long name', public_key: line };
    await unwrap(site.platform.member.POST('/api/v1/ssh-keys', { body }));
    const page = await site.signIn('Tenant Member', '/launch');
    await page.setViewportSize(PHONE);
    await page.getByRole('checkbox', { name: /^a key with/ }).waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(PHONE.width);
    await page.context().close();
  });

  it('shows tasks with host, duration and result', async () => {
    const page = await site.signIn('Platform Operator', '/operator/tasks');
    const row = page.getByRole('row', { name: /slice\.vm_release/ }).first();
    await row.getByRole('link', { name: 'sim-h200-01' }).waitFor();
    await row.getByText('Completed').waitFor();
    await page.getByRole('columnheader', { name: 'Took' }).waitFor();
    await page.context().close();
  });

  it('goes to a host and a policy from any page', async () => {
    const page = await site.signIn('Platform Operator', '/operator/regions');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('sim-h200-01');
    await page.getByRole('option', { name: /sim-h200-01/ }).click();
    await page.getByRole('heading', { level: 1, name: 'sim-h200-01' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('sign idle');
    await page.getByRole('option', { name: /auth\.sign_in_idle_seconds/ }).click();
    await page.getByRole('heading', { level: 1, name: 'auth.sign_in_idle_seconds' }).waitFor();
    await page.context().close();
  });

  it('finds policies by plain words', async () => {
    const page = await site.signIn('Platform Operator', '/operator/policies');
    await page.getByLabel('Find').fill('sign in idle');
    await page.getByRole('link', { name: 'auth.sign_in_idle_seconds' }).waitFor();
    await page.getByLabel('Find').fill('no such policy');
    await page.getByText('No policies match “no such policy”').waitFor();
    await page.context().close();
  });

  it('asks for the name before an organization is deleted', async () => {
    const page = await site.signIn('Tenant Admin', '/organization/settings');
    await page.getByRole('button', { name: 'Delete the organization' }).click();
    const dialog = page.getByRole('alertdialog');
    const confirm = dialog.getByRole('button', { name: 'Delete' });
    expect(await confirm.getAttribute('aria-disabled')).toBe('true');
    await dialog.getByLabel('Type Acme Research to confirm').fill('Acme Research');
    await expect.poll(() => confirm.getAttribute('aria-disabled')).not.toBe('true');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.context().close();
  });

  it('answers 404 for files that do not exist', async () => {
    for (const path of ['/robots.txt', '/llms.txt', '/assets/none.js'])
      expect((await fetch(`${site.platform.baseUrl}${path}`)).status, path).toBe(404);
  });
});

const KEY = 'AAAAC3NzaC1lZDI1NTE5AAAAIEv9HjyxVJXOu4ZWrvJ1vXn5VhYQ1lXo7uE2mN2n3n4k';
