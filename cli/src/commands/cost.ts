import { Option, type Command } from 'commander';
import type { components } from '@gpuaas/sdk/contract';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';
import { colorize } from '../colorize.ts';
import { print } from '../print.ts';
import { chooseOrganization, openSession } from '../session.ts';
import { money, formatTable } from '../table.ts';

type Line = components['schemas']['ReportLine'];
type Group = components['schemas']['CostGroup'];

interface CostOptions {
  by: Group;
  from?: string;
  to?: string;
  organization?: string;
}

const GROUPS: Group[] = ['project', 'team', 'user', 'sku', 'region', 'day', 'month'];

export function addCost(program: Command): void {
  program
    .command('cost')
    .description('spend (default: this month)')
    .addOption(new Option('--by <group>', 'group by').choices(GROUPS).default('project'))
    .option('--from <time>', 'start, inclusive, for example 2030-01-01T00:00:00Z')
    .option('--to <time>', 'end, exclusive (default: now)')
    .option('--organization <id or name>', 'organization; required if you have several')
    .action(async (options: CostOptions, command: Command) => {
      const session = openSession(command);
      const organization_id = await chooseOrganization(session, options.organization);
      const { from = startOfMonth(), to = new Date().toISOString() } = options;
      const query = { organization_id, from, to, group_by: options.by, limit: 200 };
      const items: Line[] = [];
      const pages = paginate((page) =>
        unwrap(
          session.client.GET('/api/v1/billing/reports/costs', { params: { query: { ...query, ...page } } }),
        ),
      );
      for await (const line of pages) items.push(line);
      print(session, { items, next_page: null }, () => costs(items, options.by, from, to));
    });
}

function costs(lines: Line[], by: Group, from: string, to: string): string {
  if (lines.length === 0) return `No spend from ${from} to ${to}.`;
  const rows = lines.map(({ group, label, gpu_seconds: seconds, amount }) => [
    label || group || '(none)',
    (seconds / 3600).toFixed(2),
    money(amount),
  ]);
  const totals = totalsOf(lines).map((total) => [
    colorize('bold', 'total'),
    '',
    colorize('bold', money(total)),
  ]);
  return formatTable([[by.toUpperCase(), 'GPU HOURS', 'COST'], ...rows, ...totals]);
}

/** One for each currency: they do not add up. */
function totalsOf(lines: Line[]): { currency: string; micros: number }[] {
  const sums = new Map<string, number>();
  for (const { amount } of lines) sums.set(amount.currency, (sums.get(amount.currency) ?? 0) + amount.micros);
  return [...sums].map(([currency, micros]) => ({ currency, micros }));
}

function startOfMonth(): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString();
}
