import type { Command } from 'commander';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { waitForTask } from '../../fleet/wait-for-task.ts';
import { findNode } from '../../fleet/find-node.ts';
import { print } from '../../print.ts';
import { openSession } from '../../session.ts';
import { formatTable } from '../../table.ts';

type Discovery = components['schemas']['TopologyDiscovery'];

export function addDiscover(admin: Command): void {
  admin
    .command('discover')
    .description('discover the topology of a host (read-only)')
    .argument('<host>', 'name or id')
    .option('--wait', 'wait for the result and show it')
    .action(async (host: string, options: { wait?: boolean }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const { id, hostname } = await findNode(session, host);
      const params = { path: { node_id: id } };
      const task = await unwrap(
        client.POST('/api/v1/admin/nodes/{node_id}/slice-topology/discovery', { params }),
      );
      if (!options.wait)
        return print(
          session,
          task,
          () => `Discovery started on ${hostname}. See gpuaas admin tasks get ${task.id}`,
        );
      await waitForTask(session, task.id);
      const found = await unwrap(
        client.GET('/api/v1/admin/nodes/{node_id}/slice-topology/discovery', { params }),
      );
      print(session, found, () => describe(found, hostname));
    });
}

function describe({ candidates, left_out: leftOut }: Discovery, hostname: string): string {
  const rows = candidates.map((one) => [
    String(one.slot_index),
    one.gpu_model,
    one.gpu_pci_address,
    one.fabric_vf_pci_address ?? 'none',
    one.nvme_serial ?? 'none',
    String(one.numa_node),
    [...one.nvme_mounts, ...(one.nvme_filesystems ?? [])].join(', ') || '-',
  ]);
  return [
    formatTable([['SLOT', 'GPU', 'PCI ADDRESS', 'FABRIC VF', 'DISK', 'NUMA', 'ON THE DISK'], ...rows]),
    ...(leftOut.length > 0 ? [`${leftOut.length} devices were excluded; use --json to see why.`] : []),
    `Next: gpuaas admin approve ${hostname}`,
  ].join('\n');
}
