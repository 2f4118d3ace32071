import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsole } from '@gpuaas/lab/up/build-console';
import { chromiumPath, openBrowser } from '../harness/console/browser.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';

const IMAGES = fileURLToPath(new URL('../../docs/images', import.meta.url));
/** `GPUAAS_SCREENSHOTS=1` refreshes the pictures of the README. */
const takesPictures = process.env['GPUAAS_SCREENSHOTS'] === '1';

let platform: TestPlatform;
let browser: Browser;

describe.skipIf(!chromiumPath || !existsSync('/usr/bin/bwrap'))(
  'first light in a browser (needs chromium, bubblewrap)',
  () => {
    beforeAll(async () => {
      const consoleDir = await buildConsole(() => undefined);
      platform = await startTestPlatform({ nodes: 2, consoleDir, speed: takesPictures ? 1 : 0.2 });
      browser = await openBrowser();
    }, 180_000);
    afterAll(async () => {
      await browser?.close();
      await platform?.stop();
    });

    it('signs in, launches, types in the terminal, releases and sees the wipe record', async () => {
      const page = await newPage('dark');
      await page.goto(platform.baseUrl);
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: /^Tenant Member/ }).click();

      await page.getByRole('link', { name: 'Launch' }).first().click();
      await page.getByRole('radio', { name: /^2/ }).click();
      await expectVisible(page, '$5.98');
      await picture(page, 'launch');
      await page.getByRole('button', { name: 'Launch 2 GPUs' }).click();

      await page.getByText('The machine answers; billing has started').waitFor();
      await expectVisible(page, 'SHA256:');
      await picture(page, 'allocation');

      await page.getByRole('link', { name: 'Overview', exact: true }).click();
      await page.getByRole('heading', { name: 'Running' }).waitFor();
      await picture(page, 'overview');
      await page.goBack();

      await page.getByRole('tab', { name: 'Terminal' }).click();
      await page.getByText('Connected', { exact: true }).waitFor();
      await page.keyboard.type('echo "two plus two is $((2+2))" && nvidia-smi\n');
      await page.getByText('two plus two is 4').waitFor();
      await page.getByText('NVIDIA H200').first().waitFor();
      await picture(page, 'terminal');

      await page.getByRole('button', { name: 'Release' }).click();
      const dialog = page.getByRole('alertdialog');
      await expect.poll(() => dialog.textContent()).toContain('wiped');
      await dialog.getByRole('button', { name: 'Wipe and release' }).click();
      await page.getByText('Wiped, verified and given back').waitFor();
      await page.getByText('Wipe record').waitFor();
      await expect.poll(() => page.getByText(/blkdiscard/).count()).toBeGreaterThanOrEqual(2);
      await picture(page, 'wipe-record');
      await page.context().close();
    });

    it('shows the operator eight slots by state', async () => {
      const page = await newPage('light');
      await page.goto(`${platform.baseUrl}/auth/login?return_to=/operator/nodes`);
      await page.getByRole('button', { name: /^Platform Operator/ }).click();
      await page.getByRole('link', { name: 'sim-h200-01' }).click();
      await page.getByText('Fully available').first().waitFor();
      await expect.poll(() => page.getByRole('button', { name: /^Slot \d/ }).count()).toBe(8);
      for (const fact of ['In service.', 'Ready for slices', 'Burn-in passed']) {
        await expectVisible(page, fact);
      }
      await expectVisible(page, 'No drift: the host matches its approved topology.');
      await page.getByRole('button', { name: /^Slot 0/ }).click();
      await expectVisible(page, 'Not leased on the host.');
      await page.getByLabel('GPU in slot 6 lost').click();
      await page.getByText('New placements are blocked on this host').waitFor();
      await page.getByLabel('GPU in slot 6 lost').click();
      await page.getByText('New placements are blocked on this host').waitFor({ state: 'detached' });
      await picture(page, 'node');
      await page.context().close();
    });

    it('shares one event stream between the tabs of a browser', async () => {
      const first = await newPage('dark');
      const streams: string[] = [];
      first.context().on('request', (request) => {
        if (request.url().endsWith('/api/v1/events/stream')) streams.push(request.url());
      });
      await first.goto(`${platform.baseUrl}/auth/login?return_to=/allocations`);
      await first.getByRole('button', { name: /^Tenant Admin/ }).click();
      await first.getByText('Live', { exact: true }).first().waitFor();
      const second = await first.context().newPage();
      await second.goto(`${platform.baseUrl}/allocations`);
      await second.getByText('Live', { exact: true }).first().waitFor();
      expect(streams).toHaveLength(1);
      await first.close();
      // The tab that is left takes over.
      await expect.poll(() => streams.length).toBe(2);
      await second.context().close();
    });
  },
);

async function newPage(colorScheme: 'dark' | 'light'): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, colorScheme });
  const page = await context.newPage();
  page.on('pageerror', (error) => expect.fail(`the page threw: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith('http') && url.origin !== platform.baseUrl)
      expect.fail(`outside request to ${url.origin}`);
  });
  return page;
}

async function expectVisible(page: Page, text: string): Promise<void> {
  await page.getByText(text).first().waitFor();
}

async function picture(page: Page, name: string): Promise<void> {
  if (!takesPictures) return;
  await mkdir(IMAGES, { recursive: true });
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(IMAGES, `${name}.png`) });
}
