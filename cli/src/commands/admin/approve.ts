import { InvalidArgumentError, Option, type Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { findNode } from '../../fleet/find-node.ts';
import { paintState } from '../../paint.ts';
import { print } from '../../print.ts';
import { openSession } from '../../session.ts';
import { table } from '../../table.ts';

type WipePolicy = 'blkdiscard' | 'nvme_format';

export function addApprove(admin: Command): void {
  admin
    .command('approve')
    .description('let what the latest discovery of a host found be sold')
    .argument('<host>', 'name or id')
    .option('--slots <numbers...>', 'only these of it', slotIndex)
    .addOption(
      new Option('--wipe-policy <how>', 'how disks are wiped between leases')
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
        const rows = slots.items.map((slot) => [String(slot.slot_index), slot.id, paintState(slot.state)]);
        return `${table([['SLOT', 'ID', 'STATE'], ...rows])}\nWhat is available on ${hostname} is for sale.`;
      });
    });
}

function slotIndex(text: string, former: number[] = []): number[] {
  if (!/^(\d|1[0-5])$/.test(text)) throw new InvalidArgumentError('give slot numbers from 0 to 15');
  return [...former, Number(text)];
}
