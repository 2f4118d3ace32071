import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { colorize } from '../../colorize.ts';
import { pollUntil } from '../../poll-until.ts';
import { print } from '../../print.ts';
import { openSession } from '../../session.ts';
import { UsageError } from '../../usage-error.ts';

interface EnrolOptions {
  region: string;
  pool?: string;
  rack?: string;
  nodeFamily?: string;
  wait?: boolean;
}

export function addEnrol(admin: Command): void {
  admin
    .command('enrol')
    .description('mint a one-time token for a host, and say how to use it; it is shown once')
    .argument('[hostname]', 'restrict the token to this host (default: any new host)')
    .requiredOption('--region <region>', 'region of the host')
    .option('--pool <pool>', 'pool of the host')
    .option('--rack <rack>', 'rack of the host')
    .option('--node-family <family>', 'node family of the host')
    .option('--wait', 'wait until a host has enrolled')
    .action(async (hostname: string | undefined, options: EnrolOptions, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      if (options.wait && session.json) throw new UsageError('Use either --wait or --json, not both.');
      const body = {
        region: options.region,
        ...(hostname !== undefined && { hostname }),
        ...(options.pool !== undefined && { pool: options.pool }),
        ...(options.rack !== undefined && { rack: options.rack }),
        ...(options.nodeFamily !== undefined && { node_family: options.nodeFamily }),
      };
      const made = await unwrap(client.POST('/api/v1/admin/node-enrolments', { body }));
      print(session, made, () =>
        [
          `Run this on ${hostname ?? 'the host'} before ${made.expires_at}; it works once:`,
          `  gpuaas-node-agent install --server <address of the node port> --token ${made.token}`,
        ].join('\n'),
      );
      if (!options.wait) return;
      const used = await pollUntil({
        poll: async () => {
          const { items } = await unwrap(client.GET('/api/v1/admin/node-enrolments'));
          return items.find(({ id }) => id === made.id);
        },
        isSettled: (enrolment) => enrolment?.state !== 'open',
        goesOn: 'The token stays valid until it expires: gpuaas admin node-enrolments',
      });
      if (used?.state !== 'used') throw new Error(`the token is ${used?.state ?? 'gone'}`);
      console.log(
        `${colorize('green', 'Enrolled.')} Next: gpuaas admin convert ${hostname ?? used.node_id} slice --reason <why> --wait`,
      );
    });
}
