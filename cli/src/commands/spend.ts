import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print } from '../print.ts';
import { money, table } from '../table.ts';
import { chooseOrganization, openSession } from '../session.ts';

export function addSpend(program: Command): void {
  program
    .command('spend')
    .description('what you have left, what you spend now and how long it lasts')
    .option('--organization <id>', 'organization; needed when you have several')
    .action(async (options: { organization?: string }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const organization_id = await chooseOrganization(session, options.organization);
      const answer = await unwrap(
        client.GET('/api/v1/billing/spend', { params: { query: { organization_id } } }),
      );
      print(session, answer, () => {
        const rows = answer.spend.map((spend) => [
          money(spend.available),
          money(spend.per_hour),
          money(spend.accrued),
          spend.runs_out_at ?? 'never',
          spend.standing,
        ]);
        return rows.length === 0
          ? 'Nothing yet: no money, and nothing that costs any.'
          : table([['AVAILABLE', 'PER HOUR', 'ACCRUED', 'RUNS OUT', 'STANDING'], ...rows]);
      });
    });
}
