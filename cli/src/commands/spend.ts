import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print } from '../print.ts';
import { money, formatTable } from '../table.ts';
import { chooseOrganization, openSession } from '../session.ts';

export function addSpend(program: Command): void {
  program
    .command('spend')
    .description('balance, spend rate and runway')
    .option('--organization <id>', 'organization; required if you have several')
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
          money(spend.held_for_reservations),
          money(spend.per_hour),
          money(spend.accrued),
          spend.runs_out_at ?? 'never',
          spend.standing,
        ]);
        return rows.length === 0
          ? 'No balance and no spend yet.'
          : formatTable([['AVAILABLE', 'HELD', 'PER HOUR', 'ACCRUED', 'RUNS OUT', 'STANDING'], ...rows]);
      });
    });
}
