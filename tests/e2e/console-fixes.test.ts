import { describe, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, release, waitForState } from '../harness/allocations/allocations.ts';
import { chromiumPath } from '../harness/console/browser.ts';
import { useConsole } from '../harness/console/console.ts';

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
