import type { Command } from 'commander';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { findNode } from '../../fleet/find-node.ts';
import { pollUntil } from '../../poll-until.ts';
import { print } from '../../print.ts';
import { openSession } from '../../session.ts';

type Node = components['schemas']['Node'];

export function addDrain(admin: Command): void {
  admin
    .command('drain')
    .description('stop new placements on a host; running machines continue')
    .argument('<host>', 'name or id')
    .requiredOption('--reason <why>', 'reason shown in the audit log')
    .option('--wait', 'wait until the host is empty')
    .action(async (host: string, options: { reason: string; wait?: boolean }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const { id } = await findNode(session, host);
      const params = { path: { node_id: id } };
      const body = { reason: options.reason };
      const drained = await unwrap(client.POST('/api/v1/admin/nodes/{node_id}/drain', { params, body }));
      const node = options.wait
        ? await pollUntil({
            poll: () => unwrap(client.GET('/api/v1/admin/nodes/{node_id}', { params })),
            isSettled: (one) => held(one) === 0,
            goesOn: `The host stays drained: gpuaas admin nodes get ${id}`,
          })
        : drained;
      print(session, node, () => `${node.hostname} is draining; ${held(node)} slots still in use.`);
    });
  admin
    .command('resume')
    .description('resume placements on a host')
    .argument('<host>', 'name or id')
    .action(async (host: string, _options, command: Command) => {
      const session = openSession(command);
      const { id } = await findNode(session, host);
      const params = { path: { node_id: id } };
      const node = await unwrap(session.client.POST('/api/v1/admin/nodes/{node_id}/resume', { params }));
      print(session, node, () => `${node.hostname} is ${node.posture}.`);
    });
}

function held({ slot_counts: slots }: Node): number {
  return slots.reserved + slots.in_use + slots.cleaning;
}
