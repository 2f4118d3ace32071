import type { Command } from 'commander';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { colorize, colorizeState } from '../colorize.ts';
import { print } from '../print.ts';
import { chooseProject, openSession, type Session } from '../session.ts';
import { pluralize, money, formatTable } from '../table.ts';
import { isInteractive } from '../terminal/is-interactive.ts';
import { runLiveScreen } from '../terminal/live-screen.ts';

type Schemas = components['schemas'];

const EVERY_MS = 2_000;

export function addTop(program: Command): void {
  program
    .command('top')
    .description('running machines and their cost; refreshes until you press q')
    .option('--project <id or name>', 'project; required if you have several')
    .action(async (options: { project?: string }, command: Command) => {
      const session = openSession(command);
      const projectId = await chooseProject(session, options.project);
      if (isInteractive(session) && process.stdout.isTTY)
        return await runLiveScreen(EVERY_MS, async () => screen(await loadSnapshot(session, projectId)));
      const snapshot = await loadSnapshot(session, projectId);
      print(session, snapshot.allocations, () => screen(snapshot).join('\n'));
    });
}

interface Snapshot {
  allocations: { items: Schemas['Allocation'][]; next_page: string | null };
  spend: Schemas['Spend'][];
}

async function loadSnapshot({ client }: Session, project_id: string): Promise<Snapshot> {
  const { organization_id } = await unwrap(
    client.GET('/api/v1/projects/{project_id}', { params: { path: { project_id } } }),
  );
  const [allocations, { data: money }] = await Promise.all([
    unwrap(
      client.GET('/api/v1/allocations', { params: { query: { project_id, state: 'live', limit: 200 } } }),
    ),
    // Some users may not see spend; running leases are shown anyway.
    client.GET('/api/v1/billing/spend', { params: { query: { organization_id, project_id } } }),
  ]);
  return { allocations, spend: money?.spend ?? [] };
}

function screen({ allocations: { items }, spend }: Snapshot): string[] {
  const gpus = items.reduce((sum, one) => sum + one.gpu_count, 0);
  const head = spend.map(
    (one) =>
      `${money(one.per_hour)} per hour, ${money(one.available)} available, runs out ${one.runs_out_at ?? 'never'}, ` +
      colorizeState(one.standing),
  );
  const rows = items.map((one) => [
    one.name,
    String(one.gpu_count),
    one.sku,
    one.region,
    colorizeState(one.state),
    one.states.projected?.stage ?? '-',
    money(one.quote.per_hour),
    money(one.cost_so_far),
    one.ends_at ?? '-',
  ]);
  const titles = ['NAME', 'GPUS', 'SKU', 'REGION', 'STATE', 'STAGE', 'PER HOUR', 'COST', 'ENDS'];
  return [
    colorize('bold', `${pluralize(items.length, 'allocation')}, ${pluralize(gpus, 'GPU')}`),
    ...head,
    '',
    ...(rows.length === 0
      ? ['Nothing is running. Try: gpuaas launch']
      : formatTable([titles, ...rows]).split('\n')),
  ];
}
