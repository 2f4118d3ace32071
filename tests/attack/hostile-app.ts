import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppClient } from '../harness/apps/app-client.ts';
import { launchMachine, startWebApp, type WebApp } from '../harness/apps/web-app.ts';
import { chromiumPath, openBrowser } from '../harness/console/browser.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';
import { freePort } from '../harness/processes/free-port.ts';

/** What the page of an app tries on the console and on the apps beside it. */
export function describeHostileApp(domain: string): void {
  describe.skipIf(!chromiumPath)(`a hostile app under ${domain} (needs chromium)`, () => {
    let platform: TestPlatform;
    let browser: Browser;
    let context: BrowserContext;
    let page: Page;
    let hostile: WebApp;
    let victim: WebApp;
    let victimClient: AppClient;
    const origin = ({ label }: WebApp): string => `http://${label}.${domain}:${platform.appsPort}`;

    beforeAll(async () => {
      const appsPort = await freePort();
      platform = await startTestPlatform({
        nodes: 1,
        settings: { GPUAAS_APPS_PORT: String(appsPort), GPUAAS_APPS_DOMAIN: `${domain}:${appsPort}` },
      });
      const allocation = await launchMachine(platform);
      victim = await startWebApp(platform, allocation, { slug: 'victim', port: 8000 });
      hostile = await startWebApp(platform, allocation, { slug: 'hostile', port: 8001 });
      victimClient = new AppClient(platform.appsPort, victim.label, domain);
      browser = await openBrowser();
      context = await browser.newContext();
      page = await context.newPage();
      // Signing in to an app leads through the console; both are open in this browser afterwards.
      await page.goto(`${origin(victim)}/page?x=1`);
      await page.getByRole('button', { name: /^Tenant Member/ }).click();
      await page.waitForURL(`${origin(victim)}/page?x=1`);
      await page.goto(`${origin(hostile)}/page?y=2#part`);
      expect(page.url()).toBe(`${origin(hostile)}/page?y=2#part`);
      expect(await page.title()).toBe('page of the app');
    });
    afterAll(async () => {
      await browser?.close();
      await platform?.stop();
    });

    const served = async (): Promise<number> =>
      Number(
        (await victimClient.call('/served', { headers: { authorization: `Bearer ${platform.keys.member}` } }))
          .text,
      );
    const consoleIsSignedIn = async (): Promise<boolean> =>
      (await context.request.get(`${platform.baseUrl}/api/v1/me`)).status() === 200;

    it('reads no cookie of ours and plants none at the console or a sibling', async () => {
      const before = await context.cookies([platform.baseUrl, origin(victim)]);
      const seen = await page.evaluate((suffix) => {
        for (const name of ['gpuaas_sign_in', '__Host-gpuaas_app', '=__Host-gpuaas_app', '__Host-gpuaas_try'])
          for (const target of ['', `; Domain=${suffix}`, '; Domain=127.0.0.1', '; Domain=localhost'])
            document.cookie = `${name}=evil; Path=/; Secure${target}`;
        return document.cookie;
      }, domain);
      expect(seen).not.toContain(before[0]!.value);
      const ours = (await context.cookies([platform.baseUrl, origin(victim)])).filter(
        ({ name, domain: host }) => before.some((cookie) => cookie.name === name && cookie.domain === host),
      );
      expect(ours.map(({ value }) => value)).toEqual(before.map(({ value }) => value));
      const next = await context.newPage();
      await next.goto(`${origin(victim)}/page`);
      expect(await next.title()).toBe('page of the app');
      await next.close();
    });

    it('does not call the API as the viewer', async () => {
      const read = await page.evaluate(async (url) => {
        const ask = async (path: string, init: RequestInit): Promise<string> =>
          await fetch(`${url}${path}`, { credentials: 'include', ...init }).then(
            (answer) => `${answer.type} ${answer.status}`,
            () => 'blocked',
          );
        return [
          await ask('/api/v1/me', {}),
          await ask('/auth/logout', { method: 'POST', mode: 'no-cors' }),
          await ask('/auth/logout', { method: 'POST' }),
        ];
      }, platform.baseUrl);
      expect([read[0], read[2]]).toEqual(['blocked', 'blocked']);
      expect(await consoleIsSignedIn()).toBe(true);
    });

    it('neither frames nor steers the console', async () => {
      const framed = await page.evaluate(
        async (url) =>
          await new Promise<string>((resolve) => {
            const frame = document.createElement('iframe');
            frame.src = `${url}/docs/problems`;
            frame.addEventListener('load', () => resolve(frame.contentDocument === null ? 'foreign' : 'own'));
            document.body.append(frame);
          }),
        platform.baseUrl,
      );
      expect(framed).toBe('foreign');
      expect(page.frames().some((frame) => frame.url().startsWith(platform.baseUrl))).toBe(false);
      const opened = context.waitForEvent('page');
      await page.evaluate((url) => {
        Object.assign(window, { opened: window.open(`${url}/docs/problems`) });
      }, platform.baseUrl);
      const consolePage = await opened;
      await consolePage.waitForLoadState();
      await expect
        .poll(() => page.evaluate(() => (Reflect.get(window, 'opened') as Window).closed), {
          timeout: 20_000,
        })
        .toBe(true);
      await page.evaluate(() => {
        (Reflect.get(window, 'opened') as Window).location.href = 'about:blank#steered';
      });
      expect(consolePage.url()).toBe(`${platform.baseUrl}/docs/problems`);
      await consolePage.close();
    });

    it('does not reach a sibling with the viewer’s sign-in', async () => {
      const before = await served();
      const outcome = await page.evaluate(
        async ({ url, socket }) => {
          const ask = async (init: RequestInit): Promise<string> =>
            await fetch(`${url}/page`, { credentials: 'include', ...init }).then(
              (answer) => answer.type,
              () => 'blocked',
            );
          const load = async (element: HTMLElement): Promise<string> =>
            await new Promise((resolve) => {
              element.addEventListener('load', () => resolve('loaded'));
              element.addEventListener('error', () => resolve('refused'));
              document.body.append(element);
            });
          const connects = await new Promise<string>((resolve) => {
            const ws = new WebSocket(socket);
            ws.addEventListener('open', () => resolve('open'));
            ws.addEventListener('error', () => resolve('refused'));
          });
          await ask({ method: 'POST', mode: 'no-cors' });
          await ask({ mode: 'no-cors' });
          const script = Object.assign(document.createElement('script'), { src: `${url}/sw.js` });
          await load(Object.assign(document.createElement('iframe'), { src: `${url}/page` }));
          return [connects, await ask({}), await load(script)];
        },
        { url: origin(victim), socket: `${origin(victim).replace('http', 'ws')}/ws` },
      );
      expect(outcome).toEqual(['refused', 'blocked', 'refused']);
      // The second question is the only request that reached the sibling.
      expect(await served()).toBe(before + 1);
    });

    it('catches a ticket with a service worker, and can do nothing with it', async () => {
      await page.evaluate(async () => {
        await navigator.serviceWorker.register('/sw.js');
        await navigator.serviceWorker.ready;
      });
      const cookies = await context.cookies(origin(hostile));
      await context.clearCookies({ name: cookies.find(({ name }) => name === '__Host-gpuaas_app')!.name });
      await page.goto(`${origin(hostile)}/page`);
      await page.waitForURL(/ticket=/);
      expect(await page.title()).toBe('caught');
      const { pathname, search } = new URL(page.url());
      const thief = new AppClient(platform.appsPort, hostile.label, domain);
      const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
      expect((await thief.call(`${pathname}${search}`, { headers })).status).toBe(403);
      expect(
        (
          await thief.call(`${pathname}${search}`, {
            headers: { ...headers, cookie: `__Host-gpuaas_try=${'a'.repeat(43)}` },
          })
        ).status,
      ).toBe(403);
    });
  });
}
