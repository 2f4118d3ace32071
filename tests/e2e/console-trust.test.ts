import { createHash, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, launchBody, release, waitForState } from '../harness/allocations/allocations.ts';
import { chromiumPath } from '../harness/console/browser.ts';
import { useConsole } from '../harness/console/console.ts';
import { shownSteps } from '../harness/console/shown-steps.ts';

const SLICE = { sku: 'h200-sxm-slice', region: 'uae-north-1' };
const HOST = 'sim-h200-01';

/** Where the product promises trust: price, wipe proof, a lost connection, keys, and what operators change. */
describe.skipIf(!chromiumPath)('trust in the console (needs chromium)', () => {
  const site = useConsole({ nodes: 1, speed: 0.3 });

  const setFaults = (faults: 'wipe_fails'[]) =>
    unwrap(
      site.platform.operator.PUT('/api/v1/admin/lab/hosts/{lab_hostname}/faults', {
        params: { path: { lab_hostname: HOST } },
        body: { faults },
      }),
    );

  it('asks again when the price has changed since it was shown', async () => {
    const page = await site.signIn('Tenant Member', '/launch');
    await page.getByText('$2.99', { exact: false }).first().waitFor();
    // The page must not learn of it before the click.
    await page.route('**/api/v1/skus*', (route) => route.abort());
    const body = { ...SLICE, per_gpu_hour: { currency: 'USD', micros: 3_490_000 } };
    await unwrap(site.platform.operator.POST('/api/v1/admin/prices', { body }));
    await page.getByRole('button', { name: 'Launch 1 GPU' }).click();
    await page.getByText('The price has changed').waitFor();
    await page.getByText('A GPU hour cost $2.99 and costs $3.49 now.').waitFor();
    await page.unroute('**/api/v1/skus*');
    await page.getByText('1 GPU × $3.49, billed by the second').waitFor();
    await page.getByRole('button', { name: 'Launch 1 GPU' }).click();
    await page.waitForURL(/\/allocations\/[0-9a-f-]{36}/);
    const id = new URL(page.url()).pathname.split('/').at(-1)!;
    const params = { path: { allocation_id: id } };
    const { quote } = await unwrap(
      site.platform.member.GET('/api/v1/allocations/{allocation_id}', { params }),
    );
    expect(quote.per_gpu_hour.micros).toBe(3_490_000);
    await waitForState(site.platform.member, id, 'active', 90_000);
    await release(site.platform.member, id);
    await waitForState(site.platform.member, id, 'released', 90_000);
    await page.context().close();
  }, 240_000);

  it('claims no wipe without proof, and keeps a slot in quarantine until it has one', async () => {
    const { member, projectId } = site.platform;
    const { id } = await launch(member, projectId, 1);
    await waitForState(member, id, 'active', 90_000);
    await setFaults(['wipe_fails']);
    await release(member, id);
    await waitForState(member, id, 'release_failed', 120_000);
    const tenant = await site.signIn('Tenant Member', `/allocations/${id}`);
    await expect
      .poll(() => shownSteps(tenant, 'Release'), { timeout: 30_000 })
      .toEqual(expect.arrayContaining(['Wipe the disks, failed', 'Verify the wipe, failed']));
    await expect.poll(() => tenant.getByText('The host reports the machine running').count()).toBe(0);
    await tenant.context().close();

    const operator = await site.signIn('Platform Operator', '/operator/cleanup');
    await operator.getByText('Blocked', { exact: true }).waitFor();
    await setFaults([]);
    await operator.getByRole('button', { name: 'Retry wipe' }).click();
    await operator.getByText('Retrying', { exact: true }).waitFor();
    expect(await operator.getByText('No quarantined slots').count()).toBe(0);
    await operator.getByText('No quarantined slots').waitFor({ timeout: 90_000 });
    await waitForState(member, id, 'released', 30_000);
    await operator.context().close();
  }, 300_000);

  it('says that it is offline, stops its meters and disables actions until the server answers', async () => {
    const { member, projectId } = site.platform;
    const { id, name } = await launch(member, projectId, 1);
    await waitForState(member, id, 'active', 90_000);
    const page = await site.signIn('Tenant Member', `/allocations/${id}`);
    await page.getByText('Billing', { exact: true }).waitFor();
    // Pages are loaded ahead, so that navigation works without the server.
    await page.waitForTimeout(5_000);
    await page.context().setOffline(true);
    const banner = page.getByRole('alert').filter({ hasText: 'Offline: the server does not answer' });
    await banner.waitFor({ timeout: 60_000 });
    await page.getByText(/^as of .*, offline$/).waitFor();
    const cost = page.getByTestId('cost-so-far');
    const frozen = await cost.textContent();
    await page.waitForTimeout(3_000);
    expect(await cost.textContent()).toBe(frozen);
    const releaseButton = page.getByRole('button', { name: 'Release' });
    expect(await releaseButton.getAttribute('aria-disabled')).toBe('true');
    await page.getByText('Offline: the server does not answer.').first().waitFor();
    await page.getByRole('link', { name: 'Notifications' }).click();
    await page.getByRole('heading', { level: 1, name: 'Notifications' }).waitFor();
    await page.getByText('Not available offline').first().waitFor();
    await page.context().setOffline(false);
    await banner.waitFor({ state: 'detached', timeout: 60_000 });
    await page.getByText('Not available offline').waitFor({ state: 'detached', timeout: 60_000 });
    await page.goto(`${site.platform.baseUrl}/allocations/${id}`);
    await page.getByRole('heading', { name }).waitFor();
    expect(await releaseButton.getAttribute('aria-disabled')).not.toBe('true');
    await page.context().close();
    await release(member, id);
    await waitForState(member, id, 'released', 90_000);
  }, 300_000);

  it('chooses own SSH keys, and says so when SSH cannot work', async () => {
    const { member, projectId } = site.platform;
    const keyless = await launch(member, projectId, 1);
    await waitForState(member, keyless.id, 'active', 90_000);
    const page = await site.signIn('Tenant Member', `/allocations/${keyless.id}`);
    await page.getByText('SSH is not possible: no key was chosen at launch').waitFor();
    expect(await page.getByText(`gpuaas ssh ${keyless.name}`).count()).toBe(0);

    const key = publicKey();
    await unwrap(member.POST('/api/v1/ssh-keys', { body: { name: 'laptop', public_key: key.line } }));
    await page.goto(`${site.platform.baseUrl}/launch`);
    const box = page.getByRole('checkbox', { name: /^laptop/ });
    await expect.poll(() => box.isChecked()).toBe(true);
    await box.click();
    await page.getByText('No key chosen: SSH will not work').waitFor();
    await box.click();
    await page.getByRole('button', { name: 'Launch 1 GPU' }).click();
    await page.waitForURL(/\/allocations\/[0-9a-f-]{36}/);
    await page.getByText(key.fingerprint).waitFor({ timeout: 90_000 });
    const id = new URL(page.url()).pathname.split('/').at(-1)!;
    await page.context().close();
    for (const one of [id, keyless.id]) await release(member, one);
    for (const one of [id, keyless.id]) await waitForState(member, one, 'released', 90_000);
  }, 300_000);

  it('shows operators what they change before they change it', async () => {
    const page = await site.signIn('Platform Operator', '/operator/prices');
    await page.getByRole('button', { name: 'Add price' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Product').click();
    await page.getByRole('option', { name: /slice/i }).first().click();
    await form.getByLabel('USD per GPU hour').fill('299');
    await form.getByRole('button', { name: 'Review' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText('$299.00 / GPU h').waitFor();
    await dialog.getByText(/Applies to 0 running leases: no/).waitFor();
    await dialog.getByRole('button', { name: 'Add price' }).click();
    await dialog.getByText('Large price change not confirmed').waitFor();
    const again = dialog.getByRole('button', { name: 'Change it anyway' });
    expect(await again.getAttribute('aria-disabled')).toBe('true');
    await dialog.getByRole('checkbox').check();
    await again.click();
    await page.getByRole('cell', { name: '$299.00' }).waitFor();

    await page.goto(`${site.platform.baseUrl}/operator/policies/auth.sign_in_idle_seconds`);
    await page.getByLabel('Value in seconds').fill('9000');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByRole('alertdialog').getByText('2h 30m (9,000 s)').waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
    const params = { path: { policy_name: 'auth.sign_in_idle_seconds' } };
    const policy = await unwrap(
      site.platform.operator.GET('/api/v1/admin/policies/{policy_name}', { params }),
    );
    expect(policy).toMatchObject({ value: 14_400 });
    await page.context().close();
  }, 120_000);

  it('keeps the frame around an unknown page, and names a malformed id', async () => {
    const page = await site.signIn('Tenant Member', '/no-such-page');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await page.goto(`${site.platform.baseUrl}/allocations/xyz`);
    await page.getByRole('heading', { name: 'Allocation not found' }).waitFor();
    await page.context().close();
  });

  it('takes no other price than the one that was sent', async () => {
    const { member, projectId } = site.platform;
    const body = {
      ...launchBody(projectId, 1),
      expected_price_per_gpu_hour: { currency: 'EUR', micros: 299_000_000 },
    };
    const answer = await member.POST('/api/v1/allocations', { body });
    expect(answer.error).toMatchObject({ code: 'price_changed' });
  });
});

function publicKey(): { line: string; fingerprint: string } {
  const { publicKey: key } = generateKeyPairSync('ed25519');
  const raw = key.export({ format: 'der', type: 'spki' }).subarray(-32);
  const field = (bytes: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const blob = Buffer.concat([field(Buffer.from('ssh-ed25519')), field(raw)]);
  const digest = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
  return { line: `ssh-ed25519 ${blob.toString('base64')}`, fingerprint: `SHA256:${digest}` };
}
