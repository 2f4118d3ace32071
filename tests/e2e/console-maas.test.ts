import { startMaasServer, type MaasServer } from '@gpuaas/lab/maas/maas-server';
import { STATUS } from '@gpuaas/lab/maas/statuses';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath } from '../harness/console/browser.ts';
import { useConsole } from '../harness/console/console.ts';
import { enrolMachine, maasEnv } from '../harness/fleet/maas.ts';

describe.skipIf(!chromiumPath)('machines of MAAS in the console (needs chromium)', () => {
  const settings: Record<string, string> = {};
  let maas: MaasServer;
  // Before the platform starts, which gets the address of MAAS.
  beforeAll(async () => {
    maas = await startMaasServer({
      onDeployed: async (machine) => void (await enrolMachine(site.platform.services, machine)),
    });
    Object.assign(settings, maasEnv(maas));
  });
  const site = useConsole({ nodes: 0, untouched: true, settings });
  afterAll(() => maas?.stop());

  it('are listed, with the reason where one cannot be imported, and become hosts step by step', async () => {
    maas.add({ systemId: 'abc', hostname: 'rack9-u1' });
    maas.add({ systemId: 'def', hostname: 'rack9-u2', status: STATUS.DEPLOYED });
    const { operator } = site.platform;
    await operator.PUT('/api/v1/admin/policies/{policy_name}', {
      params: { path: { policy_name: 'fleet.maas_poll_seconds' } },
      body: { value: 1, reason: 'a quick MAAS' },
    });
    const page = await site.signIn('Platform Operator', '/operator/maas');
    const busy = page.getByRole('row', { name: /rack9-u2/ }).getByRole('button', { name: 'Import' });
    await busy.hover();
    await page.getByText('MAAS says it is deployed.').first().waitFor();
    // The hint covers the row above for as long as the pointer rests here.
    await page.mouse.move(0, 0);
    await page
      .getByRole('row', { name: /rack9-u1/ })
      .getByRole('button', { name: 'Import' })
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
    const onboarding = page.getByRole('listitem', { name: 'rack9-u1' });
    await onboarding.getByText('Succeeded').waitFor();
    expect(await onboarding.getByText(': Done').count()).toBe(7);
    await onboarding.getByRole('link', { name: 'rack9-u1' }).click();
    await page.getByRole('heading', { name: 'rack9-u1' }).waitFor();
    await page.context().close();
  });
});
