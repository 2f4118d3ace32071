import { approveFleet } from '@gpuaas/lab/approve-fleet';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, launchBody, waitForState } from '../harness/allocations/allocations.ts';
import { eventually } from '../harness/eventually.ts';
import { privateAccounts } from '../harness/fleet/room-accounts.ts';
import { openVmHost, VM_HOSTNAME, type VmHost } from '../harness/fleet/vm-host.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';
import { mintToken, sellTinyMachines } from './lab-steps.ts';

export interface LabMachine {
  platform: TestPlatform;
  allocationId: string;
  close(): Promise<void>;
}

const MACHINE_MS = 200_000;

/** A real machine with busybox and dropbear, on a real hypervisor. */
export async function openTinyMachine(): Promise<LabMachine> {
  const lab = await openLab(() => Promise.resolve());
  const { member, projectId } = lab.platform;
  const { id } = await launch(member, projectId, 1);
  await waitForState(member, id, 'active', MACHINE_MS);
  return { platform: lab.platform, allocationId: id, close: lab.close };
}

/** A whole host, entered as its unprivileged user. */
export async function openWholeHost(): Promise<LabMachine> {
  const { platform, host, nodeId, close } = await openLab(privateAccounts);
  // Its GPUs are only written down, so no driver could be bound to them.
  const { db } = platform.services;
  await db.updateTable('nodes').set({ mode: 'baremetal' }).where('id', '=', nodeId).execute();
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
  await waitForState(platform.member, id, 'active', MACHINE_MS).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${host.log()}`);
  });
  return { platform, allocationId: id, close };
}

async function openLab(prepare: (host: VmHost) => Promise<void>) {
  const [platform, host] = await Promise.all([startTestPlatform({ nodes: 0 }), openVmHost()]);
  await prepare(host);
  await sellTinyMachines(platform, host.image.digest);
  await host.startAgent(platform.nodeUrl, { GPUAAS_AGENT_TOKEN: await mintToken(platform) });
  const node = await eventually('the host', async () => {
    const { items } = await unwrap(platform.operator.GET('/api/v1/admin/nodes'));
    return items.find((one) => one.hostname === VM_HOSTNAME && one.connection === 'connected');
  });
  await approveFleet(platform.operator, { info: () => undefined, warn: () => undefined });
  const close = async (): Promise<void> => {
    await host.close();
    await platform.stop();
  };
  return { platform, host, nodeId: node.id, close };
}
