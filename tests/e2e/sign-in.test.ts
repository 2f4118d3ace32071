import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsole } from '@gpuaas/lab/up/build-console';
import { chromiumPath, openBrowser } from '../harness/console/browser.ts';
import { freePort } from '../harness/processes/free-port.ts';
import { startFakeGitHub, type FakeGitHub } from '../harness/sign-in/fake-github.ts';
import { startSite, type TestSite } from '../harness/sign-in/signed-in-site.ts';

describe.skipIf(!chromiumPath)('the sign-in page (needs chromium)', () => {
  let site: TestSite;
  let github: FakeGitHub;
  let browser: Browser;
  beforeAll(async () => {
    const port = await freePort();
    github = await startFakeGitHub(`http://127.0.0.1:${port}/auth/callback/public/github`, {
      id: 42,
      login: 'octo',
      name: 'Octo Cat',
      emails: [{ email: 'octo@example.test', primary: true, verified: true, visibility: null }],
    });
    const { clientId, clientSecret, url } = github;
    site = await startSite({
      port,
      publicProviders: [{ name: 'github', clientId, clientSecret, url }],
      api: { consoleDir: await buildConsole(() => undefined) },
    });
    browser = await openBrowser();
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    await github?.stop();
  });

  it('offers each provider, and brings the person back to the page they wanted', async () => {
    const page = await browser.newPage();
    await page.goto(`${site.url}/ssh-keys`);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const links = page.getByRole('link', { name: /^Continue with/ });
    await expect
      .poll(() => links.allTextContents(), { timeout: 30_000 })
      .toEqual(['Continue with GitHub', 'Continue with another account']);
    const organization = page.getByRole('button', { name: 'Continue with your organization' });
    expect(await organization.getAttribute('aria-disabled')).toBe('true');
    await links.first().click();
    await page.getByRole('heading', { level: 1, name: 'SSH keys' }).waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Account menu of Octo Cat' }).waitFor();
    await page.close();
  }, 120_000);

  it('leads to the provider of a work e-mail address, the own one if its organization has none', async () => {
    const page = await browser.newPage();
    await page.goto(`${site.url}/sign-in`);
    await page.getByRole('textbox', { name: 'Work e-mail' }).fill('somebody@nowhere.example');
    await page.getByRole('button', { name: 'Continue with your organization' }).click();
    await page.waitForURL((url) => url.href.startsWith(site.idp.issuer), { timeout: 60_000 });
    await page.close();
  }, 120_000);
});
