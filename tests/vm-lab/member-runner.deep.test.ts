import { describe } from 'vitest';
import { approveFleet } from '@gpuaas/lab/approve-fleet';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, waitForState } from '../harness/allocations/allocations.ts';
import { testMemberRunner } from '../harness/apps/member-runner-suite.ts';
import { machinePlace } from '../harness/apps/platform-place.ts';
import { eventually } from '../harness/eventually.ts';
import { openVmHost, VM_HOSTNAME } from '../harness/fleet/vm-host.ts';
import { whyNoVmLab } from '../harness/fleet/vm-lab-needs.ts';
import { startTestPlatform } from '../harness/platform.ts';
import { mintToken, sellTinyMachines } from './lab-steps.ts';

const obstacle = whyNoVmLab();
const MACHINE_MS = 200_000;

describe.skipIf(obstacle !== null)(obstacle ?? 'on a real hypervisor', () => {
  testMemberRunner('in a real machine with busybox and dropbear', async () => {
    const [platform, host] = await Promise.all([startTestPlatform({ nodes: 0 }), openVmHost()]);
    const close = async (): Promise<void> => {
      await host.close();
      await platform.stop();
    };
    await sellTinyMachines(platform, host.image.digest);
    await host.startAgent(platform.nodeUrl, { GPUAAS_AGENT_TOKEN: await mintToken(platform) });
    await eventually('the host', async () => {
      const { items } = await unwrap(platform.operator.GET('/api/v1/admin/nodes'));
      return items.find((one) => one.hostname === VM_HOSTNAME && one.connection === 'connected');
    });
    await approveFleet(platform.operator, { info: () => undefined, warn: () => undefined });
    const { id } = await launch(platform.member, platform.projectId, 1);
    await waitForState(platform.member, id, 'active', MACHINE_MS);
    const place = machinePlace(platform, id, {
      listen: (port) => ['nc', '-ll', '-p', String(port), '-e', 'cat'],
      disk: null,
    });
    return { ...place, close };
  });
});
