import type { Page } from 'playwright-core';
import { unwrap } from '@gpuaas/sdk/problem';
import { publishDemoApps } from '@gpuaas/lab/publish-demo-apps';
import { beforeAll, describe, expect, it } from 'vitest';
import { launchMachine } from '../harness/apps/web-app.ts';
import { publish, shellManifest } from '../harness/apps/apps.ts';
import { chromiumPath } from '../harness/console/browser.ts';
import { useConsole } from '../harness/console/console.ts';

const LONG = 120_000;

/** One machine and one browser. The tests follow one another: the last releases the machine. */
describe.skipIf(!chromiumPath)('apps in the console (needs chromium)', () => {
  const site = useConsole({ nodes: 1 });
  let machine: string;
  let page: Page;

  beforeAll(async () => {
    const { operator } = site.platform;
    await publishDemoApps(operator);
    const price = { price: { currency: 'USD', micros: 10_000 }, per: 1 };
    const priced = { app: 'notebook', dimension: 'requests' as const, ...price };
    await unwrap(operator.POST('/api/v1/admin/app-usage-prices', { body: priced }));
    ({ name: machine } = await launchMachine(site.platform));
    page = await site.signIn('Tenant Member', '/workloads');
    page.setDefaultTimeout(LONG);
  }, 300_000);

  it('an allocation that does not fit says why, and the form offers a new one of the size', async () => {
    const big = shellManifest('true', { display_name: 'Big' });
    const compatibility = { ...big.compatibility, min_gpu_count: 4 };
    await publish(site.platform.operator, 'big', { ...big, compatibility });
    await page.getByText('No workloads yet').waitFor();
    await page.getByRole('link', { name: 'Choose an app' }).click();
    await page.getByRole('link', { name: 'Launch Big' }).click();
    const target = page.getByRole('radio', { name: `${machine}, The app needs 4 GPUs` });
    expect(await target.isDisabled()).toBe(true);
    expect(await isDisabled(page, 'Launch Big')).toBe(true);
    await page.getByRole('link', { name: 'launch a new allocation of 4 GPUs' }).click();
    await page.getByRole('button', { name: 'Launch 4 GPUs' }).waitFor();
  }, 300_000);

  it('a notebook is launched, opened on its own origin, runs a cell, and is stopped with evidence', async () => {
    await page.getByRole('link', { name: 'App catalog' }).click();
    await page.getByRole('link', { name: 'Launch Notebook' }).click();
    await expect.poll(() => page.getByRole('radio', { name: machine }).isChecked()).toBe(true);
    await page.getByRole('combobox', { name: 'Server' }).click();
    await page.getByRole('option', { name: 'javascript' }).click();
    await page.getByLabel('Folder').fill('walk');
    const estimate = page.getByRole('region', { name: 'Estimate' });
    for (const words of ['$0.01 per request', 'billed whether the app runs or not'])
      expect(await estimate.textContent()).toContain(words);
    await estimate.getByRole('button', { name: 'Launch Notebook' }).click();

    await page.getByRole('heading', { level: 1, name: 'Notebook' }).waitFor();
    await page.locator('[data-stage=healthy]').waitFor();
    const shown = await page.locator('[data-stage]').evaluateAll(stages);
    expect(shown).toEqual(expect.arrayContaining(['created', 'starting', 'member_added', 'start_completed']));
    await page.getByRole('region', { name: 'Output' }).getByText('notebook listens on').waitFor();
    await page.getByText('Following live').waitFor();
    await runCell(page);
    await shareByLink(page);
    const requests = page.getByTestId('requests');
    await expect.poll(async () => Number(await requests.textContent()), { timeout: LONG }).toBeGreaterThan(3);
    const share = page.getByText(/^Share of the machine \$\d+\.\d+, requests \$0\.\d+$/);
    await share.waitFor({ timeout: LONG });
    expect(await page.getByTestId('workload-cost').textContent()).toMatch(/^\$\d+\.\d/);

    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stop' }).click();
    await showsEvidence(page);
    await page.getByRole('link', { name: 'Workloads' }).first().click();
    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Running' }).click();
    await page.getByText('No workloads match').waitFor();
    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Stopped' }).click();
    await page.getByRole('row', { name: /^Notebook Stopped Stopped on request/ }).waitFor();
  }, 480_000);

  it('its next attempt ends with the release of the allocation', async () => {
    await page.getByRole('link', { name: 'Notebook', exact: true }).click();
    await page.getByRole('link', { name: 'Run again' }).click();
    expect(await page.getByLabel('Folder').inputValue()).toBe('walk');
    await page.getByRole('button', { name: 'Launch Notebook' }).click();
    await page.locator('[data-stage=healthy]').waitFor();
    const attempts = page.getByRole('region', { name: 'Attempts' });
    await expect.poll(() => attempts.getByRole('listitem').count(), { timeout: LONG }).toBe(2);

    await page.getByRole('region', { name: 'Details' }).getByRole('link', { name: machine }).click();
    await page.getByRole('region', { name: 'Workloads', exact: true }).getByText('attempt 2').waitFor();
    await page.getByRole('button', { name: 'Release' }).click();
    await page.getByRole('button', { name: 'Wipe and release' }).click();
    await page.getByText('Wiped, verified and given back').waitFor();
    await page.goBack();
    await page.locator('[data-stage=stopped]').waitFor();
    await showsEvidence(page);
    await page.getByText(/^Complete, /).waitFor();
    await page.context().close();
  }, 480_000);
});

const stages = (items: Element[]) => items.map((item) => item.getAttribute('data-stage'));

/** A disabled button stays focusable, so that it can show its reason. */
async function isDisabled(page: Page, name: string): Promise<boolean> {
  const button = page.getByRole('button', { name });
  return (await button.getAttribute('aria-disabled')) === 'true';
}

/** Opens the app in another tab, which the gateway signs in. */
async function runCell(page: Page): Promise<void> {
  const opened = page.context().waitForEvent('page', { timeout: LONG });
  await page.getByRole('link', { name: 'Open', exact: true }).click();
  const notebook = await opened;
  notebook.setDefaultTimeout(LONG);
  await notebook.locator('#status', { hasText: 'idle' }).waitFor();
  expect(new URL(notebook.url()).hostname).toMatch(/^notebook-[a-z0-9-]+\.localhost$/);
  const cell = notebook.locator('.cell').first();
  await cell.locator('textarea').fill('6 * 7');
  await cell.locator('textarea').press('Shift+Enter');
  await cell.locator('.outputs').getByText('42').waitFor();
  await notebook.close();
}

/** The panel changes who may open the app, and shows a link once. */
async function shareByLink(page: Page): Promise<void> {
  const panel = page.getByRole('region', { name: 'Sharing' });
  await panel.getByText('No share links.').waitFor();
  await panel.getByRole('combobox', { name: 'Who may open it' }).click();
  await page.getByRole('option', { name: 'Its project' }).click();
  await panel.getByRole('combobox', { name: 'Who may open it' }).getByText('Its project').waitFor();
  await panel.getByRole('button', { name: 'New link' }).click();
  await page.getByLabel('Note').fill('a guest');
  await page.getByRole('button', { name: 'Make link' }).click();
  const link = await page.getByRole('dialog').getByText('/.gpuaas/enter?share=').textContent();
  expect(link).toMatch(/^http:\/\/notebook-[a-z0-9-]+\.localhost:\d+\/\.gpuaas\/enter\?share=gpl_/);
  await page.getByRole('button', { name: 'Done' }).click();
}

async function showsEvidence(page: Page): Promise<void> {
  const teardown = page.getByRole('region', { name: 'Teardown' });
  await teardown.getByText('Proven', { exact: true }).waitFor();
  await teardown.getByText('No process, port or file of it is left in the machine').waitFor();
  await teardown.getByText('Observed', { exact: true }).waitFor();
}
