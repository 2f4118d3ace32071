import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { describe } from '../describe-allocation.ts';
import { followAllocation } from '../follow-allocation.ts';
import { print } from '../print.ts';
import { openSession } from '../session.ts';

export function addRelease(program: Command): void {
  program
    .command('release')
    .description('stop, wipe and give back; everything on its disks is destroyed')
    .argument('<id>', 'allocation id')
    .option('--wait', 'follow it until the wipe is proven')
    .action(async (id: string, options: { wait?: boolean }, command: Command) => {
      const { client, json } = openSession(command);
      const asked = await unwrap(
        client.POST('/api/v1/allocations/{allocation_id}/release', {
          params: { path: { allocation_id: id } },
        }),
      );
      const allocation = options.wait ? await followAllocation(client, id, 'released', json) : asked;
      print(json, allocation, () => describe(allocation));
    });
}
