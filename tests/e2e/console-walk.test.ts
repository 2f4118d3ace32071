import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { chromiumPath } from '../harness/browser.ts';
import { goTo } from '../harness/console-session.ts';
import { useConsole } from '../harness/console.ts';

const DIST = fileURLToPath(new URL('../../console/dist', import.meta.url));

describe.skipIf(!chromiumPath)('the console (needs chromium)', () => {
  const site = useConsole();

  it('loads at most 250 kB of JavaScript, packed, before the first page is usable', async () => {
    const context = await site.browser.newContext();
    const page = await context.newPage();
    const scripts = new Set<string>();
    page.on('request', (request) => {
      if (request.resourceType() === 'script') scripts.add(new URL(request.url()).pathname);
    });
    await page.goto(`${site.platform.baseUrl}/auth/login?return_to=/overview`);
    await page.getByRole('button', { name: /^Tenant Member/ }).click();
    await page.getByRole('heading', { name: 'Your first GPU is a minute away' }).waitFor();
    const loaded = [...scripts].filter((path) => path.startsWith('/assets/'));
    expect(loaded.length).toBeGreaterThan(5);
    const packed = loaded.map((path) => gzipSync(readFileSync(join(DIST, path))).length);
    expect(packed.reduce((sum, size) => sum + size, 0)).toBeLessThan(250_000);
    await context.close();
  }, 60_000);

  it('lets an administrator run the organization', async () => {
    const page = await site.signIn('Tenant Admin', '/organization/members');
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('E-mail').fill('new@acme.test');
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
    await page.getByText('It is shown this once').waitFor();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('cell', { name: 'new@acme.test' }).waitFor();

    await goTo(page, 'teams');
    await page.getByRole('button', { name: 'New team' }).click();
    await page.getByLabel('Name').fill('Research');
    await page.getByRole('button', { name: 'Make team' }).click();
    await page.getByRole('link', { name: 'Research' }).click();
    await page.getByText('Nobody is in this team.').waitFor();

    await goTo(page, 'ssh keys');
    await page.getByRole('button', { name: 'Add key' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Make a key pair in the browser' }).click();
    expect((await download).suggestedFilename()).toBe('gpuaas-key');
    await page.getByRole('dialog').getByRole('button', { name: 'Add key' }).click();
    await page.getByRole('cell', { name: /SHA256:/ }).waitFor();

    await goTo(page, 'audit organization');
    await page.getByLabel('Action').fill('team.create');
    await page.getByRole('button', { name: 'Filter' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('action')).toBe('team.create');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.context().close();
  }, 120_000);

  it('says what a member may not, and why', async () => {
    const page = await site.signIn('Tenant Member', '/organization/permissions');
    await page.getByText('You may not see this').first().waitFor();
    const bind = page.getByRole('button', { name: 'Bind a group' });
    expect(await bind.getAttribute('aria-disabled')).toBe('true');
    await page.getByText('You lack the permission access.manage').first().waitFor({ state: 'attached' });
    await page.context().close();
  }, 60_000);

  it('does not launch when an SSH key is added in the launch form', async () => {
    const page = await site.signIn('Tenant Member', '/launch');
    const launches: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/api/v1/allocations'))
        launches.push(request.url());
    });
    await page.getByRole('button', { name: 'Paste or make a key' }).click();
    await page
      .getByLabel('Public key')
      .fill('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEv9HjyxVJXOu4ZWrvJ1vXn5VhYQ1lXo7uE2mN2n3n4k laptop');
    await page.getByRole('dialog').getByLabel('Name').fill('laptop');
    // Enter in a field sends the form it stands in, and only that.
    await page.getByRole('dialog').getByLabel('Name').press('Enter');
    const key = page.getByRole('checkbox', { name: /^laptop/ });
    await key.waitFor();
    expect(await key.isChecked()).toBe(true);
    expect(new URL(page.url()).pathname).toBe('/launch');
    expect(launches).toEqual([]);
    await page.context().close();
  }, 60_000);

  it('launches with the keyboard alone', async () => {
    const page = await site.signIn('Tenant Member', '/launch');
    await page.getByRole('radio', { name: /^1 GPU/ }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('button', { name: 'Launch 2 GPUs' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('The machine answers; billing has started').waitFor();
    await page.context().close();
  }, 60_000);

  it('lets an operator break a host, read the runbook, set a policy and enrol', async () => {
    const page = await site.signIn('Platform Operator', '/operator/lab');
    await page.getByRole('combobox', { name: /^Break/ }).click();
    await page.getByRole('option', { name: /^GPU of slot 6 is lost/ }).click();
    await goTo(page, 'incidents');
    await page
      .getByRole('link', { name: /GPU|device/i })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Runbook' }).waitFor();
    await page.getByRole('heading', { name: 'Look' }).waitFor();
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByText('Acknowledged', { exact: true }).first().waitFor();

    await page.goto(`${site.platform.baseUrl}/operator/policies/auth.session_idle_seconds`);
    await page.getByLabel('Value in seconds').fill('7200');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByRole('cell', { name: '2h 0m (7,200 s)' }).waitFor();

    await goTo(page, 'enrolments');
    await page.getByRole('button', { name: 'Enrol a host' }).click();
    await page.getByLabel('Host name').fill('gpu-a1-07');
    await page.getByRole('button', { name: 'Mint token' }).click();
    await page.getByText(/gpuaas-node-agent install --server .* --hostname gpu-a1-07 --token gpe_/).waitFor();
    await page.context().close();
  }, 120_000);
});
