import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { paint } from '../../paint.ts';
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
    .argument('[hostname]', 'the only host that may use it; without it any one new host may')
    .requiredOption('--region <region>', 'where the host stands')
    .option('--pool <pool>', 'which pool it belongs to')
    .option('--rack <rack>', 'which rack it stands in')
    .option('--node-family <family>', 'what kind of host it is')
    .option('--wait', 'until a host has used it')
    .action(async (hostname: string | undefined, options: EnrolOptions, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      if (options.wait && session.json)
        throw new UsageError('The token would be shown too late: --wait or --json.');
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
        look: async () => {
          const { items } = await unwrap(client.GET('/api/v1/admin/node-enrolments'));
          return items.find(({ id }) => id === made.id);
        },
        isSettled: (enrolment) => enrolment?.state !== 'open',
        goesOn: 'The token stays good until then: gpuaas admin node-enrolments',
      });
      if (used?.state !== 'used') throw new Error(`the token is ${used?.state ?? 'gone'}`);
      console.log(
        `${paint('green', 'Enrolled.')} Next: gpuaas admin discover ${hostname ?? used.node_id} --wait`,
      );
    });
}
