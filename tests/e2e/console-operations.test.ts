import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { approveFleet } from '@gpuaas/lab/approve-fleet';
import { chromiumPath } from '../harness/console/browser.ts';
import { goTo } from '../harness/console/signed-in-page.ts';
import { useConsole } from '../harness/console/console.ts';

/** Two hosts from enrolment on. The tests build on each other: each uses the state of the one before. */
describe.skipIf(!chromiumPath)('operators and tenants in the console (needs chromium)', () => {
  const site = useConsole({ nodes: 2, untouched: true });

  it('promotes a new host to slices, and approves its topology by rules and its burn-in', async () => {
    const page = await site.signIn('Platform Operator', '/operator/nodes');
    await page.getByRole('link', { name: 'sim-h200-01' }).click();
    await page.getByText('None: convert the host first').waitFor();
    await page.getByRole('button', { name: 'Convert to slices' }).click();
    await page.getByLabel('Reason').fill('First promotion');
    await page.getByRole('button', { name: 'Convert', exact: true }).click();
    await page.getByText('Ready for slices').first().waitFor();
    const candidates = page.getByRole('article', { name: /^Candidate \d/ });
    await expect.poll(() => candidates.count()).toBe(8);
    expect(await candidates.getByText('All 18 rules passed').count()).toBe(8);
    await page.getByRole('combobox', { name: 'Wipe policy' }).click();
    await page.getByRole('option', { name: /^blkdiscard/ }).click();
    await page.getByRole('button', { name: 'Approve all 8' }).click();
    await expect.poll(() => page.getByRole('button', { name: /^Slot \d/ }).count()).toBe(8);
    await passBurnIn(page);
    await page.getByText('Fully available').first().waitFor();
    await page.context().close();
  });

  it('turns the other host into baremetal, opens the product, and drains and resumes', async () => {
    await approveFleet(site.platform.operator, { info: () => undefined, warn: () => undefined });
    const page = await site.signIn('Platform Operator', '/operator/nodes');
    await page.getByRole('link', { name: 'sim-h200-02' }).click();
    await page.getByRole('button', { name: 'Convert to bare metal' }).click();
    await page.getByLabel('Reason').fill('Demand for whole hosts');
    await page.getByRole('button', { name: 'Convert', exact: true }).click();
    await page.getByText(/^Running\s*to baremetal/).waitFor();
    await expect.poll(() => page.getByText('Running', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Convert to slices' }).waitFor();
    await page.getByRole('button', { name: 'Approve whole-node offer' }).click();
    await page.getByText('Fully available').first().waitFor();

    await page.getByRole('button', { name: 'Drain' }).click();
    await page.getByLabel('Reason').fill('New firmware');
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await page.getByText('Draining: New firmware').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Draining: New firmware').waitFor({ state: 'detached' });

    await goTo(page, 'products');
    await page
      .getByRole('row', { name: /H200 SXM node/ })
      .getByRole('button', { name: 'Open' })
      .click();
    await page
      .getByRole('row', { name: /H200 SXM node/ })
      .getByText('For sale')
      .waitFor();
    await goTo(page, 'placement');
    await page.getByText('Fits now').waitFor();
    await page.context().close();
  });

  it('launches a baremetal host from the same form, and releases it', async () => {
    const page = await site.signIn('Tenant Member', '/launch');
    await page.getByRole('radio', { name: 'Baremetal' }).click();
    await page.getByRole('button', { name: 'Launch 8 GPUs' }).click();
    await page.getByText('Active', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Release' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Wipe and release' }).click();
    await page.getByText('Released', { exact: true }).first().waitFor();
    await page.context().close();
  });

  it('says why a launch failed on a broken host', async () => {
    const operator = await site.signIn('Platform Operator', '/operator/lab');
    await breakHost(operator, 'VMs do not boot');
    const page = await site.signIn('Tenant Member', '/launch?gpus=1');
    await page.getByRole('button', { name: 'Launch 1 GPU' }).click();
    await page.getByText('Launch failed', { exact: true }).waitFor();
    await page.getByText('You are not charged.').waitFor();
    await goTo(page, 'overview');
    await page.getByText(/failed to launch$/).waitFor();
    await mendHost(operator);
    // Its slot stays quarantined until an operator confirms the wipe.
    await goTo(operator, 'quarantine');
    const wipe = operator.getByRole('button', { name: 'Retry wipe' });
    await wipe.click();
    await wipe.waitFor({ state: 'detached' });
    await page.context().close();
    await operator.context().close();
  });

  it('unblocks a slot whose wipe left data', async () => {
    const operator = await site.signIn('Platform Operator', '/operator/lab');
    await breakHost(operator, 'Wipe leaves data');
    const page = await site.signIn('Tenant Member', '/launch?gpus=1');
    await page.getByRole('button', { name: 'Launch 1 GPU' }).click();
    await page.getByText('The machine answers; billing has started').waitFor();
    await goTo(page, 'allocations');
    await page.getByRole('checkbox', { name: /^Select (?!all)/, disabled: false }).click();
    await page.getByRole('button', { name: 'Release 1 allocation' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Wipe and release all' }).click();
    await page.getByText('Release failed').first().waitFor();

    await goTo(operator, 'quarantine');
    const clean = operator.getByRole('button', { name: 'Retry wipe' });
    await clean.first().waitFor();
    await goTo(operator, 'lab');
    await mendHost(operator);
    await goTo(operator, 'quarantine');
    await clean.first().click();
    await clean.first().waitFor({ state: 'detached' });
    await page.getByText('Released', { exact: true }).first().waitFor();
    await page.context().close();
    await operator.context().close();
  }, 180_000);

  it('stops a tenant without money, and takes a payment', async () => {
    const operator = await site.signIn('Platform Operator', '/operator/tenants');
    await operator.getByRole('link', { name: 'Acme Research' }).click();
    await operator.getByRole('button', { name: 'Adjust balance' }).click();
    await operator.getByRole('combobox', { name: 'Kind' }).click();
    await operator.getByRole('option', { name: /^Correction/ }).click();
    await operator.getByLabel('Amount').fill('-10001');
    await operator.getByLabel('Reason').fill('The demo is over');
    await operator.getByRole('button', { name: 'Post' }).click();
    await operator.getByText('−$10,001.00 posted').waitFor();

    const page = await site.signIn('Tenant Admin', '/overview');
    await page
      .getByText(/balance used up/i)
      .first()
      .waitFor();
    await page.goto(`${site.platform.baseUrl}/launch?gpus=1`);
    await page.getByRole('button', { name: 'Launch 1 GPU' }).click();
    await page
      .getByRole('alert')
      .getByText(/balance|money|credit/i)
      .first()
      .waitFor();

    await goTo(page, 'balance');
    await page.getByRole('button', { name: 'Top up', exact: true }).click();
    await page.getByLabel('Amount in USD').fill('250');
    await page.getByRole('button', { name: 'Continue to payment' }).click();
    await payWith(page, 'Declined');
    await page.getByText('Payment failed').waitFor();
    await payWith(page, 'Accepted');
    await page
      .getByRole('row', { name: /Succeeded/ })
      .getByText('$250.00')
      .waitFor();
    await page.getByRole('region', { name: 'Ledger' }).getByText('Payment', { exact: true }).waitFor();

    await page.goto(`${site.platform.baseUrl}/launch?gpus=1`);
    await page.getByRole('button', { name: 'Launch 1 GPU' }).click();
    await page.getByText('The machine answers; billing has started').waitFor();
    await page.context().close();
    await operator.context().close();
  }, 180_000);

  it('prices an app, and shows a tenant what it used of it beside its leases', async () => {
    const operator = await site.signIn('Platform Operator', '/operator/prices');
    await operator.getByRole('button', { name: 'Add app price' }).click();
    await operator.getByRole('textbox', { name: 'App' }).fill('chat');
    await operator.getByRole('textbox', { name: 'USD' }).fill('0.50');
    await operator.getByRole('button', { name: 'Add', exact: true }).click();
    await operator.getByRole('cell', { name: '$0.50 per 1,000,000 tokens' }).waitFor();

    const page = await site.signIn('Tenant Admin', '/billing?time=week&by=sku');
    await page.getByText('No app usage in this period.').waitFor();
    await reportTokens(6_000_000);
    await page.reload();
    const used = page.getByRole('region', { name: 'App usage' });
    await used.getByRole('row', { name: /chat.*6,000,000 tokens.*\$3\.00/ }).waitFor();
    await page.getByRole('combobox', { name: 'By' }).click();
    await page.getByRole('option', { name: 'Project' }).click();
    await page.waitForURL(/time=week&by=project/);
    await page.context().close();
    await operator.context().close();
  });

  async function reportTokens(quantity: number): Promise<void> {
    const { operator, projectId, services } = site.platform;
    const project = services.db.selectFrom('projects').select('organization_id').where('id', '=', projectId);
    const { organization_id } = await project.executeTakeFirstOrThrow();
    const record = {
      record_id: 'e2e-record-1',
      organization_id,
      project_id: projectId,
      app: 'chat',
      quantity,
    };
    const { data } = await operator.POST('/api/v1/admin/app-usage-records', {
      body: {
        producer: 'gateway',
        records: [{ ...record, dimension: 'tokens', occurred_at: new Date().toISOString() }],
      },
    });
    expect(data).toMatchObject({ recorded: 1 });
  }
});

async function passBurnIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Record a burn-in' }).click();
  await page.getByLabel('Evidence').fill('Eight hours of load, no error');
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await page.getByText('Burn-in passed').first().waitFor();
}

async function breakHost(page: Page, fault: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Inject a fault on sim-h200-01' }).click();
  await page.getByRole('option', { name: new RegExp(`^${fault}`) }).click();
  await page
    .getByRole('row', { name: /sim-h200-01/ })
    .getByText(fault)
    .first()
    .waitFor();
}

async function mendHost(page: Page): Promise<void> {
  const row = page.getByRole('row', { name: /sim-h200-01/ });
  await row.getByRole('button', { name: 'Clear faults' }).click();
  await row.getByText('Healthy').waitFor();
}

async function payWith(page: Page, card: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Test card' }).click();
  await page
    .getByRole('option', { name: new RegExp(`^${card}`) })
    .first()
    .click();
  await page.getByRole('button', { name: 'Pay', exact: true }).click();
}
