import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { describeAllocation } from '../describe-allocation.ts';
import { findAllocation, type Allocation } from '../find-allocation.ts';
import { followAllocation } from '../follow-allocation.ts';
import { print } from '../print.ts';
import { openSession } from '../session.ts';
import { money, pluralize } from '../table.ts';
import { askYesOrNo } from '../terminal/ask.ts';
import { isInteractive } from '../terminal/is-interactive.ts';
import { CancelledError, UsageError } from '../usage-error.ts';

interface ReleaseOptions {
  wait?: boolean;
  yes?: boolean;
}

export function addRelease(program: Command): void {
  program
    .command('release')
    .description('stop, wipe and release an allocation; all data on its disks is destroyed')
    .argument('<allocation>', 'id or name')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--wait', 'wait until the wipe is verified (default in a terminal)')
    .option('--no-wait', 'return immediately')
    .action(async (called: string, options: ReleaseOptions, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const id = await findAllocation(client, called, 'live');
      const params = { path: { allocation_id: id } };
      if (!options.yes) {
        if (!isInteractive(session))
          throw new UsageError('A release destroys all data of the machine; pass --yes to confirm.');
        await confirm(await unwrap(client.GET('/api/v1/allocations/{allocation_id}', { params })));
      }
      const asked = await unwrap(client.POST('/api/v1/allocations/{allocation_id}/release', { params }));
      const allocation =
        (options.wait ?? isInteractive(session)) ? await followAllocation(session, id, 'released') : asked;
      print(session, allocation, () => describeAllocation(allocation));
    });
}

/** Shows what is destroyed; only a yes goes on. */
async function confirm(allocation: Allocation): Promise<void> {
  const { name, state, gpu_count: gpus, sku, region, cost_so_far: cost } = allocation;
  console.error(
    [
      `${name} (${state}) in ${region}: ${pluralize(gpus, 'GPU')} of ${sku}, ${money(cost)} so far.`,
      state === 'queued'
        ? 'It leaves the queue; there is nothing to wipe.'
        : `Its machine is stopped and ${pluralize(gpus, 'disk')} wiped. The data cannot be recovered.`,
    ].join('\n'),
  );
  if (!(await askYesOrNo(`Release ${name}?`, { otherwise: 'no' })))
    throw new CancelledError('cancelled, nothing was released.');
}
