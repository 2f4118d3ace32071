import { describe, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import { chromiumPath } from '../harness/console/browser.ts';
import { goTo } from '../harness/console/signed-in-page.ts';
import { useConsole } from '../harness/console/console.ts';

describe.skipIf(!chromiumPath)('the console (needs chromium)', () => {
  const site = useConsole();

  it('loads at most 250 kB of scripts and styles, in at most 30 requests, before the first page is usable', async () => {
    const context = await site.browser.newContext();
    const page = await context.newPage();
    await page.goto(`${site.platform.baseUrl}/auth/login?return_to=/overview`);
    const requests: string[] = [];
    const sizes: Promise<number>[] = [];
    let usable = false;
    page.on('request', (request) => {
      if (!usable && !request.url().includes('/auth/') && !request.url().includes('/idp/'))
        requests.push(new URL(request.url()).pathname);
    });
    page.on('response', (response) => {
      if (!usable && /\.(js|css)$/.test(new URL(response.url()).pathname))
        sizes.push(
          response
            .request()
            .sizes()
            .then(({ responseBodySize }) => responseBodySize),
        );
    });
    await page.getByRole('button', { name: /^Tenant Member/ }).click();
    await page.getByRole('heading', { name: 'Your first GPU is a minute away' }).waitFor();
    usable = true;
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(sizes.length).toBeGreaterThan(3);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(250_000);
    expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(30);
    const script = requests.find((path) => path.endsWith('.js'))!;
    for (const encoding of ['br', 'gzip']) {
      const answer = await fetch(`${site.platform.baseUrl}${script}`, {
        headers: { 'accept-encoding': encoding },
      });
      expect(answer.headers.get('content-encoding')).toBe(encoding);
    }
    await context.close();
  });

  it('lets an administrator run the organization', async () => {
    const page = await site.signIn('Tenant Admin', '/organization/members');
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('E-mail').fill('new@acme.test');
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
    await page.getByText("Copy it now: you won't see it again").waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('cell', { name: 'new@acme.test' }).waitFor();

    await goTo(page, 'teams');
    await page.getByRole('button', { name: 'New team' }).click();
    await page.getByLabel('Name').fill('Research');
    await page.getByRole('button', { name: 'Create team' }).click();
    await page.getByRole('link', { name: 'Research', exact: true }).click();
    await page.getByText('No members yet').waitFor();
    await page.getByText('No projects').waitFor();
    await page.getByLabel('Add a member').click();
    await page.getByRole('option', { name: /^Tenant Member/ }).click();
    await page.getByRole('button', { name: 'Make manager Tenant Member' }).click();
    await page.getByRole('button', { name: 'Make member Tenant Member' }).waitFor();

    await goTo(page, 'settings');
    const project = page.getByRole('row', { name: /^default/ });
    await expect.poll(() => project.textContent()).toContain('Acme Research');
    await page.getByRole('button', { name: 'Move default' }).click();
    await page.getByRole('dialog').getByLabel('Team').click();
    await page.getByRole('option', { name: 'Research', exact: true }).click();
    await page.getByRole('button', { name: 'Move project' }).click();
    await expect.poll(() => project.textContent()).not.toContain('Acme Research');

    await goTo(page, 'teams');
    await page
      .getByRole('row', { name: /^Research/ })
      .getByRole('button', { name: 'Delete' })
      .click();
    await page.getByLabel('Team that takes over').click();
    await page.getByRole('option', { name: /^Acme Research/ }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('link', { name: 'Research', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Acme Research' }).click();
    await page
      .getByRole('region', { name: 'Projects of Acme Research' })
      .getByText('default')
      .first()
      .waitFor();

    await goTo(page, 'ssh keys');
    await page.getByRole('button', { name: 'Add key' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Generate a key pair' }).click();
    expect((await download).suggestedFilename()).toBe('gpuaas-key');
    await page.getByRole('dialog').getByRole('button', { name: 'Add key' }).click();
    await page.getByRole('cell', { name: /SHA256:/ }).waitFor();

    await goTo(page, 'audit organization');
    await page.getByLabel('Action').fill('team.create');
    await page.getByRole('button', { name: 'Filter' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('action')).toBe('team.create');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.context().close();
  });

  it('sets, replaces and deletes a secret of the project without showing its value again', async () => {
    const page = await site.signIn('Tenant Admin', '/organization/settings');
    const panel = page.getByRole('region', { name: /^Secrets of / });
    await panel.getByText('No secrets yet').waitFor();
    await panel.getByRole('button', { name: 'New secret' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('hf-token');
    await page.getByText('Use capital letters, digits and _').first().waitFor();
    await page.getByRole('dialog').getByLabel('Name').fill('HF_TOKEN');
    const value = page.getByRole('dialog').getByLabel('Value');
    await value.fill('canary-of-the-console');
    expect(
      await value.evaluate((field) => getComputedStyle(field).getPropertyValue('-webkit-text-security')),
    ).toBe('disc');
    await page.getByRole('button', { name: 'Set secret' }).click();
    const row = panel.getByRole('row', { name: /^HF_TOKEN/ });
    await row.getByText('Tenant Admin').waitFor();
    await row.getByRole('button', { name: 'Replace' }).click();
    expect(await value.inputValue()).toBe('');
    await value.fill('second-canary-of-the-console');
    await page.getByRole('button', { name: 'Replace secret' }).click();
    await value.waitFor({ state: 'detached' });
    await page.reload();
    await row.waitFor();
    expect(await page.content()).not.toContain('canary-of-the-console');

    const member = await site.signIn('Tenant Member', '/organization/settings');
    const theirs = member.getByRole('row', { name: /^HF_TOKEN/ });
    await theirs.waitFor();
    const replace = theirs.getByRole('button', { name: 'Replace' });
    expect(await replace.getAttribute('aria-disabled')).toBe('true');
    await member.context().close();

    await row.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await panel.getByText('No secrets yet').waitFor();
    await page.context().close();
  });

  it('asks an invited person before they join', async () => {
    const { admin, projectId } = site.platform;
    const [acme] = (await unwrap(admin.GET('/api/v1/me'))).organizations;
    const body = {
      organization_id: acme!.id,
      project_id: projectId,
      email: 'member@globex.test',
      permission_group: 'regular_user',
    };
    const { accept_url: link } = await unwrap(admin.POST('/api/v1/invitations', { body }));
    const page = await site.signIn('Second Tenant Member', new URL(link!).pathname + new URL(link!).search);
    await page.getByText('invites you to join').waitFor();
    await page.getByText('(admin@acme.test)').waitFor();
    const query = { organization_id: acme!.id };
    const members = async () =>
      (await unwrap(admin.GET('/api/v1/members', { params: { query } }))).items.map(({ email }) => email);
    expect(await members()).not.toContain(body.email);
    await page.getByRole('button', { name: 'Join Acme Research' }).click();
    await expect.poll(members).toContain(body.email);
    await page.waitForURL(/\/overview/);
    await page.context().close();
  });

  it('says what a member may not, and why', async () => {
    const page = await site.signIn('Tenant Member', '/organization/permissions');
    await page.getByText("You don't have access to this").first().waitFor();
    const bind = page.getByRole('button', { name: 'Grant permission group' });
    expect(await bind.getAttribute('aria-disabled')).toBe('true');
    await page.getByText('Requires access.manage').first().waitFor({ state: 'attached' });
    await page.context().close();
  });

  it('does not launch when an SSH key is added in the launch form', async () => {
    const page = await site.signIn('Tenant Member', '/launch');
    const launches: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/api/v1/allocations'))
        launches.push(request.url());
    });
    await page.getByRole('button', { name: 'Add or generate a key' }).click();
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
  });

  it('launches with the keyboard alone', async () => {
    const page = await site.signIn('Tenant Member', '/launch');
    await page.getByRole('radio', { name: /^1 GPU/ }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('button', { name: 'Launch 2 GPUs' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('The machine answers; billing has started').waitFor();
    await page.context().close();
  });

  it('lets an operator break a host, read the runbook, set a policy and enrol', async () => {
    const page = await site.signIn('Platform Operator', '/operator/lab');
    await page.getByRole('combobox', { name: /^Inject a fault/ }).click();
    await page.getByRole('option', { name: /^GPU in slot 6 lost/ }).click();
    await goTo(page, 'incidents');
    await page.getByRole('link', { name: 'Approved device missing on host' }).first().click();
    await page.getByRole('heading', { name: 'Runbook' }).waitFor();
    await page.getByRole('heading', { name: 'Look' }).waitFor();
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByText('Acknowledged', { exact: true }).first().waitFor();

    await page.goto(`${site.platform.baseUrl}/operator/policies/auth.sign_in_idle_seconds`);
    await page.getByLabel('Value in seconds').fill('7200');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByRole('cell', { name: '2h 0m (7,200 s)' }).waitFor();

    await goTo(page, 'enrolments');
    await page.getByRole('button', { name: 'Enrol a host' }).click();
    await page.getByLabel('Host name').fill('gpu-a1-07');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText(/gpuaas-node-agent install --server .* --hostname gpu-a1-07 --token gpe_/).waitFor();
    await page.context().close();
  });
});
