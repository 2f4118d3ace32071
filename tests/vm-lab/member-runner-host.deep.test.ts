import { describe } from 'vitest';
import { approveFleet } from '@gpuaas/lab/approve-fleet';
import { unwrap } from '@gpuaas/sdk/problem';
import { launchBody, waitForState } from '../harness/allocations/allocations.ts';
import { testMemberRunner } from '../harness/apps/member-runner-suite.ts';
import { machinePlace } from '../harness/apps/platform-place.ts';
import { eventually } from '../harness/eventually.ts';
import { privateAccounts } from '../harness/fleet/room-accounts.ts';
import { openVmHost, VM_HOSTNAME } from '../harness/fleet/vm-host.ts';
import { whyNoVmLab } from '../harness/fleet/vm-lab-needs.ts';
import { startTestPlatform } from '../harness/platform.ts';
import { mintToken, sellTinyMachines } from './lab-steps.ts';

const obstacle = whyNoVmLab();

describe.skipIf(obstacle !== null)(obstacle ?? 'on a real host', () => {
  testMemberRunner('as the user of a whole host', async () => {
    const [platform, host] = await Promise.all([startTestPlatform({ nodes: 0 }), openVmHost()]);
    const close = async (): Promise<void> => {
      await host.close();
      await platform.stop();
    };
    await privateAccounts(host);
    await sellTinyMachines(platform, host.image.digest);
    await host.startAgent(platform.nodeUrl, { GPUAAS_AGENT_TOKEN: await mintToken(platform) });
    const node = await eventually('the host', async () => {
      const { items } = await unwrap(platform.operator.GET('/api/v1/admin/nodes'));
      return items.find((one) => one.hostname === VM_HOSTNAME && one.connection === 'connected');
    });
    await approveFleet(platform.operator, { info: () => undefined, warn: () => undefined });
    // Its GPUs are only written down, so no driver could be bound to them.
    const { db } = platform.services;
    await db.updateTable('nodes').set({ mode: 'baremetal' }).where('id', '=', node.id).execute();
    // The product as it is, but of the size of this host.
    const sku = 'h200-sxm-baremetal';
    const size = { gpus_total: 2, allowed_gpu_counts: [2] };
    await db.updateTable('sku_catalog').set(size).where('sku', '=', sku).execute();
    await unwrap(
      platform.operator.PATCH('/api/v1/admin/skus/{sku}', {
        params: { path: { sku } },
        body: { enabled: true },
      }),
    );
    const body = { ...launchBody(platform.projectId, 2), sku };
    const { id } = await unwrap(platform.member.POST('/api/v1/allocations', { body }));
    await waitForState(platform.member, id, 'active', 200_000).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${host.log()}`);
    });
    const place = machinePlace(platform, id, {
      listen: (port) => ['busybox', 'nc', '-ll', '-p', String(port), '-e', 'cat'],
      disk: null,
    });
    return { ...place, close };
  });
});
