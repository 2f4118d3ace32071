import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { convertNode, offerWholeNode } from '../harness/fleet/whole-nodes.ts';
import { unwrap } from '@gpuaas/sdk/problem';
import { launchBody, release, waitForState } from '../harness/allocations/allocations.ts';
import { useCli } from '../harness/cli/cli.ts';
import { chromiumPath } from '../harness/console/browser.ts';
import { useConsole } from '../harness/console/console.ts';
import { shownSteps } from '../harness/console/shown-steps.ts';
import { eventually } from '../harness/eventually.ts';

const SLICE_LAUNCH = [
  'Reserve GPUs',
  'Check the host',
  'Prepare the image',
  'Write cloud-init settings',
  'Start the machine',
  'Attach the network',
  'Wait for SSH',
  'Ready',
];
const SLICE_RELEASE = [
  'Release requested',
  'Close connections',
  'Stop the machine',
  'Remove the network',
  'Wipe the disks',
  'Verify the wipe',
  'Released',
];
const BAREMETAL_LAUNCH = ['Reserve GPUs', 'Check the host', 'Create user', 'Wait for SSH', 'Ready'];
const BAREMETAL_RELEASE = [
  'Release requested',
  'Close connections',
  'Stop processes',
  'Remove user',
  'Verify the host',
  'Released',
];
const each = (steps: string[], state: string): string[] => steps.map((title) => `${title}, ${state}`);

/** One host. The tests follow one another: the first fills it, the last turns it into baremetal. */
describe.skipIf(!chromiumPath)('the steps of an allocation in console and CLI (needs chromium)', () => {
  const site = useConsole({ nodes: 1 });
  const cli = useCli();
  let lease = '';
  let leasePage: Page;

  it('of a machine on slots are all done when it is ready', async () => {
    lease = await launch(launchBody(site.platform.projectId, 8));
    leasePage = await open(lease);
    await waitForState(site.platform.member, lease, 'active', 90_000);
    await bothShow(leasePage, lease, 'Launch', each(SLICE_LAUNCH, 'done'));
  }, 180_000);

  it('of a launch without room wait behind the queue, and never come when it is cancelled', async () => {
    const queued = await launch({ ...launchBody(site.platform.projectId, 1), when_unavailable: 'queue' });
    const page = await open(queued);
    await bothShow(page, queued, 'Launch', ['Wait in the queue, active', ...each(SLICE_LAUNCH, 'waiting')]);
    await release(site.platform.member, queued);
    await bothShow(page, queued, 'Launch', ['Wait in the queue, skipped', ...each(SLICE_LAUNCH, 'skipped')]);
    await bothShow(page, queued, 'Release', [
      ...each(SLICE_RELEASE.slice(0, -1), 'skipped'),
      'Released, done',
    ]);
    await page.context().close();
  }, 180_000);

  it('include that its host fell silent and came back', async () => {
    const { fleet, operator } = site.platform;
    const params = { path: { policy_name: 'fleet.unreachable_after_seconds' } };
    await unwrap(operator.PUT('/api/v1/admin/policies/{policy_name}', { params, body: { value: 10 } }));
    fleet.killAgent('sim-h200-01', 'SIGSTOP');
    try {
      await bothShow(leasePage, lease, 'During the lease', ['Host event, active']);
    } finally {
      fleet.killAgent('sim-h200-01', 'SIGCONT');
    }
    await bothShow(leasePage, lease, 'During the lease', ['Host event, done']);
    await bothShow(leasePage, lease, 'Launch', each(SLICE_LAUNCH, 'done'));
  }, 300_000);

  it('of a release end with the proof, and leave the launch as it was', async () => {
    await release(site.platform.member, lease);
    await waitForState(site.platform.member, lease, 'released', 90_000);
    await bothShow(leasePage, lease, 'Release', each(SLICE_RELEASE, 'done'));
    await bothShow(leasePage, lease, 'Launch', each(SLICE_LAUNCH, 'done'));
    await leasePage.context().close();
  }, 180_000);

  it('of a whole host are those of a whole host, in its launch and in its release', async () => {
    await convertToBaremetal();
    const body = { ...launchBody(site.platform.projectId, 8), sku: 'h200-sxm-baremetal' };
    const host = await launch(body);
    const page = await open(host);
    await waitForState(site.platform.member, host, 'active', 90_000);
    await bothShow(page, host, 'Launch', each(BAREMETAL_LAUNCH, 'done'));
    await release(site.platform.member, host);
    await waitForState(site.platform.member, host, 'released', 90_000);
    await bothShow(page, host, 'Release', each(BAREMETAL_RELEASE, 'done'));
    await bothShow(page, host, 'Launch', each(BAREMETAL_LAUNCH, 'done'));
    await page.context().close();
  }, 240_000);

  async function launch(
    body: ReturnType<typeof launchBody> & { when_unavailable?: 'queue' },
  ): Promise<string> {
    const { id } = await unwrap(site.platform.member.POST('/api/v1/allocations', { body }));
    return id;
  }

  /** The page stays open: what it shows later came live. */
  async function open(id: string): Promise<Page> {
    return await site.signIn('Tenant Member', `/allocations/${id}`);
  }

  async function bothShow(page: Page, id: string, heading: string, steps: string[]): Promise<void> {
    await expect.poll(() => shownSteps(page, heading), { timeout: 90_000 }).toEqual(steps);
    await expect.poll(() => printedSteps(id, heading), { timeout: 30_000 }).toEqual(steps);
  }

  async function printedSteps(id: string, heading: string): Promise<string[]> {
    const env = { GPUAAS_URL: site.platform.baseUrl, GPUAAS_API_KEY: site.platform.keys.member };
    const { stdout } = await cli.run(['show', id], env);
    const lines = stdout.split('\n');
    const after = lines.slice(lines.indexOf(heading) + 1);
    const end = after.findIndex((line) => !line.startsWith('  '));
    return after
      .slice(0, end === -1 ? undefined : end)
      .map((line) => line.replace(/^ {2}(\S+(?: \S+)*) {2,}(\w+).*$/, '$1, $2'));
  }

  async function convertToBaremetal(): Promise<void> {
    const { operator } = site.platform;
    const { items: nodes } = await unwrap(operator.GET('/api/v1/admin/nodes'));
    await convertNode(operator, nodes[0]!.id, 'baremetal');
    await offerWholeNode(operator, nodes[0]!.id);
    await unwrap(
      operator.PATCH('/api/v1/admin/skus/{sku}', {
        params: { path: { sku: 'h200-sxm-baremetal' } },
        body: { enabled: true },
      }),
    );
  }
});
