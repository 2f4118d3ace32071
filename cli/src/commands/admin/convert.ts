import { Argument, type Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { waitForConversion } from '../../fleet/wait-for-conversion.ts';
import { findNode } from '../../fleet/find-node.ts';
import { print } from '../../print.ts';
import { openSession } from '../../session.ts';

type Mode = 'slice' | 'baremetal';

export function addConvert(admin: Command): void {
  admin
    .command('convert')
    .description('convert an empty host between slices and bare metal')
    .argument('<host>', 'name or id')
    .addArgument(new Argument('<mode>').choices(['slice', 'baremetal']))
    .requiredOption('--reason <why>', 'reason shown in the audit log')
    .option('--wait', 'wait until the conversion has finished')
    .action(
      async (host: string, mode: Mode, options: { reason: string; wait?: boolean }, command: Command) => {
        const session = openSession(command);
        const { id, hostname } = await findNode(session, host);
        const params = { path: { node_id: id } };
        const body = { mode, reason: options.reason };
        const begun = await unwrap(
          session.client.POST('/api/v1/admin/nodes/{node_id}/convert', { params, body }),
        );
        const conversion = options.wait ? await waitForConversion(session, begun) : begun;
        print(session, conversion, () => {
          const then = mode === 'slice' ? ` Next: gpuaas admin approve ${hostname}` : '';
          return conversion.state === 'succeeded'
            ? `${hostname} is in ${mode} mode.${then}`
            : `Converting ${hostname} to ${mode} mode: gpuaas admin nodes conversions list ${id}`;
        });
      },
    );
}
