import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { describe } from '../describe-allocation.ts';
import { print } from '../print.ts';
import { seconds } from '../seconds.ts';
import { openSession } from '../session.ts';

export function addExtend(program: Command): void {
  program
    .command('extend')
    .description('let a lease with an agreed end last longer')
    .argument('<id>', 'allocation id')
    .requiredOption('--by <seconds>', 'how much longer', seconds)
    .action(async (id: string, options: { by: number }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const allocation = await unwrap(
        client.POST('/api/v1/allocations/{allocation_id}/extend', {
          params: { path: { allocation_id: id } },
          body: { additional_seconds: options.by },
        }),
      );
      print(session, allocation, () => describe(allocation));
    });
}
