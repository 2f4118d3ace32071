import { describe, expect, it } from 'vitest';
import { launch, release, waitForState } from '../harness/allocations/allocations.ts';
import { chromiumPath } from '../harness/console/browser.ts';
import { useConsole } from '../harness/console/console.ts';

describe.skipIf(!chromiumPath)('the areas of the console (needs chromium)', () => {
  const site = useConsole({ nodes: 1 });

  it('lead a tenant from project to organization, with breadcrumbs on detail pages', async () => {
    const { member, projectId } = site.platform;
    const { id, name } = await launch(member, projectId, 1);
    await waitForState(member, id, 'active', 90_000);
    const page = await site.signIn('Tenant Admin', `/allocations/${id}`);
    await page.getByRole('heading', { name }).waitFor();
    const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' });
    await expect.poll(() => crumbs.textContent()).toBe('ProjectComputeAllocations');
    const areas = page.getByRole('navigation', { name: 'Areas' });
    expect(await areas.getByRole('link').allTextContents()).toEqual(['Project', 'Organization']);
    await crumbs.getByRole('link', { name: 'Allocations' }).click();
    await page.getByRole('heading', { level: 1, name: 'Allocations' }).waitFor();
    await areas.getByRole('link', { name: 'Organization' }).click();
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
    const main = page.getByRole('navigation', { name: 'Main' });
    expect(await main.getByRole('link', { name: 'Allocations' }).count()).toBe(0);
    await main.getByText('People and access').click();
    await main.getByRole('link', { name: 'Members' }).waitFor({ state: 'hidden' });

    await page.getByRole('button', { name: 'New', exact: true }).click();
    const menu = page.getByRole('menu');
    await expect
      .poll(() => menu.getByRole('menuitem').allTextContents())
      .toEqual(expect.arrayContaining(['Allocation', 'Webhook', 'Member', 'Project', 'API key', 'SSH key']));
    expect(await menu.getByRole('menuitem', { name: 'Price' }).count()).toBe(0);
    await menu.getByRole('menuitem', { name: 'Allocation' }).click();
    await page.getByRole('heading', { level: 1, name: 'Launch' }).waitFor();

    await page.getByRole('button', { name: /^Account menu of/ }).click();
    await page.getByRole('menuitem', { name: 'SSH keys' }).click();
    await page.getByRole('heading', { level: 1, name: 'SSH keys' }).waitFor();
    await page.context().close();
    await release(member, id);
    await waitForState(member, id, 'released', 90_000);
  }, 240_000);

  it('count what waits for an operator', async () => {
    const page = await site.signIn('Platform Operator', '/operator/lab');
    await page.getByRole('combobox', { name: /^Inject a fault/ }).click();
    await page.getByRole('option', { name: /^GPU in slot 6 lost/ }).click();
    const incidents = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /Incidents/ });
    await expect.poll(() => incidents.textContent(), { timeout: 60_000 }).toMatch(/Incidents[1-9]\d* open/);
    await page.context().close();
  }, 120_000);
});
