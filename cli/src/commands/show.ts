import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { describe } from '../describe-allocation.ts';
import { findAllocation } from '../find-allocation.ts';
import { print } from '../print.ts';
import { openSession } from '../session.ts';

export function addShow(program: Command): void {
  program
    .command('show')
    .description('one allocation')
    .argument('<allocation>', 'id or name')
    .action(async (called: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const id = await findAllocation(client, called, 'live');
      const allocation = await unwrap(
        client.GET('/api/v1/allocations/{allocation_id}', { params: { path: { allocation_id: id } } }),
      );
      print(session, allocation, () => describe(allocation));
    });
}
