import { InvalidArgumentError, Option, type Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { findNode } from '../../fleet/find-node.ts';
import { colorizeState } from '../../colorize.ts';
import { print } from '../../print.ts';
import { openSession } from '../../session.ts';
import { formatTable } from '../../table.ts';

type WipePolicy = 'blkdiscard' | 'nvme_format';

export function addApprove(admin: Command): void {
  admin
    .command('approve')
    .description('approve the slots found by the latest discovery of a host')
    .argument('<host>', 'name or id')
    .option('--slots <numbers...>', 'only these slots', slotIndex)
    .addOption(
      new Option('--wipe-policy <how>', 'how disks are wiped after each lease')
        .choices(['blkdiscard', 'nvme_format'])
        .default('blkdiscard'),
    )
    .action(async (host: string, options: { slots?: number[]; wipePolicy: WipePolicy }, command: Command) => {
      const session = openSession(command);
      const { id, hostname } = await findNode(session, host);
      const params = { path: { node_id: id } };
      const { task } = await unwrap(
        session.client.GET('/api/v1/admin/nodes/{node_id}/slice-topology/discovery', { params }),
      );
      const body = {
        discovery_task_id: task.id,
        destructive_wipe_policy: options.wipePolicy,
        ...(options.slots && { slot_indexes: options.slots }),
      };
      const slots = await unwrap(
        session.client.POST('/api/v1/admin/nodes/{node_id}/resource-slots/approve', { params, body }),
      );
      print(session, slots, () => {
        const rows = slots.items.map((slot) => [String(slot.slot_index), slot.id, colorizeState(slot.state)]);
        return `${formatTable([['SLOT', 'ID', 'STATE'], ...rows])}\nAvailable slots on ${hostname} can now be leased.`;
      });
    });
}

function slotIndex(text: string, former: number[] = []): number[] {
  if (!/^(\d|1[0-5])$/.test(text)) throw new InvalidArgumentError('give slot numbers from 0 to 15');
  return [...former, Number(text)];
}
