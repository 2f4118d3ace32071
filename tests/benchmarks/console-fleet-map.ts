import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { buildConsole } from '@gpuaas/lab/up/build-console';
import { openBrowser } from '../harness/console/browser.ts';
import { fleetOf, operatorAnswer } from './console-fleet.ts';

/** The fleet map with 500 hosts: how long until it stands, and how long the page is busy when one host changes. */
const HOSTS = Number(process.env['GPUAAS_BENCH_HOSTS'] ?? 500);
const CHANGES = 20;

const dist = await buildConsole(console.log);
/** Nothing listens here: the browser is answered from the built files and from the made-up fleet. */
const origin = 'http://127.0.0.1:9';
const browser = await openBrowser();
try {
  const page = await browser.newPage({ viewport: { width: 1360, height: 860 } });
  const fleet = fleetOf(HOSTS);
  await page.route(`${origin}/**`, (route) => {
    const url = new URL(route.request().url());
    if (url.pathname.startsWith('/api/')) {
      const answer = operatorAnswer(url, fleet);
      return answer ? route.fulfill({ json: answer }) : route.abort();
    }
    const file = join(dist, url.pathname);
    const isFile = url.pathname !== '/' && existsSync(file);
    return route.fulfill({
      path: isFile && !url.pathname.startsWith('/operator') ? file : join(dist, 'index.html'),
    });
  });
  await watchBusyTime(page);
  const started = performance.now();
  await page.goto(`${origin}/operator/fleet`);
  await page.getByRole('link', { name: /^host-0001/ }).waitFor();
  await page.waitForFunction((count) => document.querySelectorAll('main li a').length === count, HOSTS);
  const standing = performance.now() - started;
  const first = await busyTime(page);
  for (let change = 0; change < CHANGES; change += 1) {
    fleet[change]!.slot_counts.available = 0;
    fleet[change]!.slot_counts.in_use = 8;
    // Without a live stream the page polls; a key press on a filter redraws everything.
    await page.getByLabel('Find').fill(change % 2 === 0 ? 'host' : '');
    await page.waitForTimeout(300);
  }
  const later = await busyTime(page);
  const scroll = await framesWhileScrolling(page);
  console.log(`load ${loadavg()[0]!.toFixed(1)}, ${HOSTS} hosts`);
  console.log(`map stands after ${standing.toFixed(0)} ms; longest task ${first.longest.toFixed(0)} ms`);
  console.log(`${CHANGES} redraws: longest task ${later.longest.toFixed(0)} ms`);
  console.log(`scrolling: ${scroll.frames} frames, longest ${scroll.longest.toFixed(0)} ms`);
} finally {
  await browser.close();
}

async function watchBusyTime(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const tasks: number[] = [];
    Object.assign(window, { busyTasks: tasks });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) tasks.push(entry.duration);
    }).observe({ type: 'longtask', buffered: true });
  });
}

/** The longest blocked stretch of the page since the last call. Below 50 ms none is reported. */
async function busyTime(page: Page): Promise<{ longest: number }> {
  return await page.evaluate(() => {
    const tasks = (window as unknown as { busyTasks: number[] }).busyTasks;
    return { longest: Math.max(0, ...tasks.splice(0)) };
  });
}

async function framesWhileScrolling(page: Page): Promise<{ frames: number; longest: number }> {
  return await page.evaluate(
    () =>
      new Promise<{ frames: number; longest: number }>((resolve) => {
        let frames = 0;
        let longest = 0;
        let last = performance.now();
        const end = last + 2_000;
        const step = (now: number) => {
          longest = Math.max(longest, now - last);
          last = now;
          frames += 1;
          window.scrollBy(0, 60);
          if (now < end) requestAnimationFrame(step);
          else resolve({ frames, longest });
        };
        requestAnimationFrame(step);
      }),
  );
}
