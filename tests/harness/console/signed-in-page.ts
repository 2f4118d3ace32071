import { expect } from 'vitest';
import type { Browser, Page } from 'playwright-core';

/** A page of the console in a separate browser, as one of the demo people. */
export async function signIn(browser: Browser, baseUrl: string, person: string, path: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, colorScheme: 'dark' });
  const page = await context.newPage();
  page.on('pageerror', (error) => expect.fail(`the page threw: ${error.message}`));
  await page.goto(`${baseUrl}/auth/login?return_to=${encodeURIComponent(path)}`);
  await page.getByRole('button', { name: new RegExp(`^${person}`) }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  return page;
}

/** By the command palette, as experienced users do. */
export async function goTo(page: Page, words: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill(words);
  await page.keyboard.press('Enter');
  await page.getByRole('combobox', { name: 'Go to' }).waitFor({ state: 'detached' });
}
