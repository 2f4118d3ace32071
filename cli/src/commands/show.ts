import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { describeAllocation } from '../describe-allocation.ts';
import { findAllocation } from '../find-allocation.ts';
import { print } from '../print.ts';
import { readSections, sectionLines } from '../progress/steps.ts';
import { openSession } from '../session.ts';

export function addShow(program: Command): void {
  program
    .command('show')
    .description('show one allocation and its steps')
    .argument('<allocation>', 'id or name')
    .action(async (called: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const id = await findAllocation(client, called, 'any');
      const allocation = await unwrap(
        client.GET('/api/v1/allocations/{allocation_id}', { params: { path: { allocation_id: id } } }),
      );
      // Scripts get the allocation alone, as the API answers it.
      const sections = session.json ? [] : await readSections(client, id);
      print(session, allocation, () =>
        [
          describeAllocation(allocation),
          ...sections.flatMap((section) => sectionLines(section, process.stdout)),
        ].join('\n'),
      );
    });
}
