import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { describeAllocation } from '../describe-allocation.ts';
import { findAllocation } from '../find-allocation.ts';
import { followAllocation } from '../follow-allocation.ts';
import { print } from '../print.ts';
import { openSession } from '../session.ts';
import { isInteractive } from '../terminal/is-interactive.ts';

export function addRelease(program: Command): void {
  program
    .command('release')
    .description('stop, wipe and release an allocation; all data on its disks is destroyed')
    .argument('<allocation>', 'id or name')
    .option('--wait', 'wait until the wipe is verified (default in a terminal)')
    .option('--no-wait', 'return immediately')
    .action(async (called: string, options: { wait?: boolean }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const id = await findAllocation(client, called, 'live');
      const asked = await unwrap(
        client.POST('/api/v1/allocations/{allocation_id}/release', {
          params: { path: { allocation_id: id } },
        }),
      );
      const allocation =
        (options.wait ?? isInteractive(session)) ? await followAllocation(session, id, 'released') : asked;
      print(session, allocation, () => describeAllocation(allocation));
    });
}
