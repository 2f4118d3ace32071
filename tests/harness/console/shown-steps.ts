import type { Page } from 'playwright-core';

/** The steps under a heading of the timeline, as a screen reader says them: 'Reserve GPUs, done'. */
export async function shownSteps(page: Page, heading: string): Promise<string[]> {
  const timeline = page.getByRole('region', { name: 'Timeline' });
  const section = timeline.locator('div', { has: page.getByRole('heading', { name: heading, exact: true }) });
  return await section.last().locator('li [data-title]').allTextContents();
}
