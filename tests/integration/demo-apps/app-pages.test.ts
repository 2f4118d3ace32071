import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type AppProcess } from '../../harness/demo-apps/app-process.ts';
import { chromiumPath, openBrowser } from '../../harness/console/browser.ts';

let browser: Browser;
const apps: AppProcess[] = [];

/** A page that fails the test when it breaks its own security policy or throws. */
async function visit(url: string): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  return { page, complaints };
}

describe.skipIf(!chromiumPath)('pages of the demo apps (needs chromium)', () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    for (const app of apps) await app.stop();
  });

  it.each(['', '/below/a/path'])('the notebook runs cells at base path "%s"', async (base) => {
    const app = await startApp('notebook', { PARAM_ENGINE: 'javascript', BASE_PATH: base });
    apps.push(app);
    const { page, complaints } = await visit(`${app.url}${base}/`);
    const cell = page.locator('.cell').first();
    await page.locator('#status', { hasText: 'idle' }).waitFor();
    await cell.locator('textarea').fill('let n = await Promise.resolve(41);\nconsole.log("hello");\nn + 1');
    await cell.locator('textarea').press('Shift+Enter');
    await cell.locator('.count', { hasText: '[1]' }).waitFor();
    expect(await cell.locator('.outputs pre').allTextContents()).toEqual(['hello\n', '42']);

    const second = page.locator('.cell').nth(1);
    await second.locator('textarea').fill('throw new TypeError("<b>bad</b>")');
    await page.keyboard.press('Shift+Enter');
    await second.locator('.error').waitFor();
    expect(await second.locator('.error').innerText()).toContain('TypeError: <b>bad</b>');

    const third = page.locator('.cell').nth(2);
    await third.locator('textarea').fill('while (true) {}');
    await page.keyboard.press('Shift+Enter');
    await page.locator('#status', { hasText: 'busy' }).waitFor();
    await page.getByRole('button', { name: 'Interrupt' }).click();
    await third.locator('.error', { hasText: 'Interrupted' }).waitFor();

    await page.getByRole('button', { name: 'Add text' }).click();
    // Running the last cell has added one.
    const text = page.locator('.cell').nth(4);
    await text.locator('textarea').fill('# Title\n\nSome **bold** <script>alert(1)</script> text');
    await page.keyboard.press('Shift+Enter');
    expect(await text.locator('h1').innerText()).toBe('Title');
    expect(await text.locator('p').innerText()).toBe('Some bold <script>alert(1)</script> text');

    const html = page.locator('.cell').nth(5);
    await html
      .locator('textarea')
      .fill('await display.html("<p id=x>inside</p><script>parent.document.title = 1</script>")');
    await page.keyboard.press('Shift+Enter');
    await html.locator('iframe').contentFrame().locator('#x').waitFor();
    expect(await page.title()).toBe('Untitled.ipynb – Notebook');

    await page.getByRole('button', { name: 'Restart' }).click();
    await page.locator('#status', { hasText: 'idle' }).waitFor();
    await cell.locator('textarea').focus();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await cell.locator('.count', { hasText: '[1]' }).waitFor();

    await page.keyboard.press('Control+s');
    await page.getByRole('button', { name: 'Saved' }).waitFor();
    const saved = JSON.parse(await readFile(join(app.home, 'Untitled.ipynb'), 'utf8'));
    expect(saved.nbformat).toBe(4);
    expect(saved.cells[0]).toMatchObject({ cell_type: 'code', execution_count: 1 });
    expect(saved.cells[0].outputs).toMatchObject([
      { output_type: 'stream', text: 'hello\n' },
      { output_type: 'execute_result', data: { 'text/plain': '42' } },
    ]);

    await page.reload();
    await cell.locator('.outputs').getByText('42').waitFor();
    // Its kernel is idle since before: no change will say so.
    await page.locator('#status', { hasText: 'idle' }).waitFor();
    // The frame's own scripts are what its sandbox and the page's policy block.
    const blocked = /Blocked script execution|Content Security Policy/;
    expect(complaints.filter((complaint) => !blocked.test(complaint))).toEqual([]);
    await page.close();
  });

  it('the notebook shows why a file cannot be opened', async () => {
    const app = await startApp('notebook', { PARAM_ENGINE: 'javascript' });
    apps.push(app);
    await writeFile(join(app.home, 'broken.ipynb'), 'no json');
    const { page } = await visit(`${app.url}/`);
    await page.getByRole('alert').getByText('not valid').waitFor();
    await page.close();
  });

  it('hello-web shows its viewer, live state and echoes', async () => {
    const app = await startApp('hello-web');
    apps.push(app);
    const { page, complaints } = await visit(`${app.url}/some/base/`);
    await page.getByRole('heading', { name: 'Hello, somebody' }).waitFor();
    await page.getByRole('status').getByText('Open pages: 1').waitFor();
    await page.getByLabel('Say something').fill('good morning');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('listitem').getByText('somebody: good morning').waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });
});
