import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { buildConsole } from '@gpuaas/lab/up/build-console';
import { openBrowser } from './browser.ts';
import { signIn } from './signed-in-page.ts';
import { startTestPlatform, type TestPlatform, type TestPlatformOptions } from '../platform.ts';

export interface ConsoleUnderTest {
  platform: TestPlatform;
  browser: Browser;
  /** A page in a separate browser, as one of the demo people. */
  signIn(person: string, path: string): Promise<Page>;
}

/** A platform that serves the built console, and a browser, for the tests of the suite this is called in. */
export function useConsole(options: TestPlatformOptions = {}): ConsoleUnderTest {
  const started: { platform?: TestPlatform; browser?: Browser } = {};
  beforeAll(async () => {
    const consoleDir = await buildConsole(() => undefined);
    started.platform = await startTestPlatform({ nodes: 1, speed: 0, ...options, consoleDir });
    started.browser = await openBrowser();
  }, 240_000);
  afterAll(async () => {
    await started.browser?.close();
    await started.platform?.stop();
  });
  return {
    get platform() {
      return there(started.platform);
    },
    get browser() {
      return there(started.browser);
    },
    signIn(person, path) {
      return signIn(this.browser, this.platform.baseUrl, person, path);
    },
  };
}

function there<Thing>(thing: Thing | undefined): Thing {
  if (!thing) throw new Error('the console is only there while tests run');
  return thing;
}
