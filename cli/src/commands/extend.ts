import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { describeAllocation } from '../describe-allocation.ts';
import { findAllocation } from '../find-allocation.ts';
import { print } from '../print.ts';
import { parseSeconds } from '../seconds.ts';
import { openSession } from '../session.ts';

export function addExtend(program: Command): void {
  program
    .command('extend')
    .description('extend a lease that has an end time')
    .argument('<allocation>', 'id or name')
    .requiredOption('--by <seconds>', 'seconds to add', parseSeconds)
    .action(async (called: string, options: { by: number }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const id = await findAllocation(client, called, 'live');
      const allocation = await unwrap(
        client.POST('/api/v1/allocations/{allocation_id}/extend', {
          params: { path: { allocation_id: id } },
          body: { additional_seconds: options.by },
        }),
      );
      print(session, allocation, () => describeAllocation(allocation));
    });
}
