import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { waitForWipe } from '../../fleet/wait-for-wipe.ts';
import { print } from '../../print.ts';
import { openSession } from '../../session.ts';
import { formatTable } from '../../table.ts';

export function addUnblock(admin: Command): void {
  admin
    .command('unblock')
    .description('list quarantined slots with evidence; with a slot id, retry its wipe')
    .argument('[slot]', 'slot id')
    .option('--wait', 'wait until the wipe has finished')
    .addHelpText(
      'after',
      `
Data of another use on the disk: gpuaas admin cleanup-queue retry-many --slot-ids <slot> --destroy-foreign-data
A wipe proven elsewhere: gpuaas admin cleanup-queue record-proof <slot>
A slot that cannot be saved: gpuaas admin cleanup-queue retire <slot>`,
    )
    .action(async (slotId: string | undefined, options: { wait?: boolean }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      if (slotId === undefined) {
        const query = { limit: 200 };
        const queue = await unwrap(client.GET('/api/v1/admin/cleanup-queue', { params: { query } }));
        return print(session, queue, () => {
          const rows = queue.items.map(({ slot, hostname, allocation, running, certificates }) => [
            slot.id,
            `${hostname}/${slot.slot_index}`,
            allocation?.id ?? '-',
            running ? 'wiping' : 'needs action',
            certificates.at(-1)?.verified === false ? 'wipe not verified' : 'no wipe reported',
          ]);
          return rows.length === 0
            ? 'No quarantined slots.'
            : formatTable([['SLOT', 'PLACE', 'ALLOCATION', 'NOW', 'EVIDENCE'], ...rows]);
        });
      }
      const params = { path: { slot_id: slotId } };
      const blocked = await unwrap(client.POST('/api/v1/admin/cleanup-queue/{slot_id}/retry', { params }));
      if (!options.wait)
        return print(
          session,
          blocked,
          () => `Retrying the wipe of slot ${blocked.slot.slot_index} on ${blocked.hostname}.`,
        );
      const slot = await waitForWipe(session, blocked.slot);
      print(session, slot, () => `Slot ${slot.slot_index} of ${blocked.hostname} is ${slot.state}.`);
    });
}
