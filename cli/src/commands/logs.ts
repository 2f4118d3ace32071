import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { stripControlCharacters } from '../colorize.ts';
import { findAllocation } from '../find-allocation.ts';
import { openSession } from '../session.ts';

export function addLogs(program: Command): void {
  program
    .command('logs')
    .description('print the last output of a machine’s serial console')
    .argument('<allocation>', 'id or name')
    .action(async (called: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const params = { path: { allocation_id: await findAllocation(client, called, 'any') } };
      const log = await unwrap(
        client.GET('/api/v1/allocations/{allocation_id}/console-log', { params, parseAs: 'text' }),
      );
      process.stdout.write(session.json ? `${JSON.stringify({ log })}\n` : stripControlCharacters(log));
    });
}
