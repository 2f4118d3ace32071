import type { Command } from 'commander';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { paint, paintState } from '../paint.ts';
import { print } from '../print.ts';
import { chooseProject, openSession, type Session } from '../session.ts';
import { counted, money, table } from '../table.ts';
import { isInteractive } from '../terminal/is-interactive.ts';
import { liveScreen } from '../terminal/live-screen.ts';

type Schemas = components['schemas'];

const EVERY_MS = 2_000;

export function addTop(program: Command): void {
  program
    .command('top')
    .description('what runs and what it costs, drawn anew until you press q; once without a terminal')
    .option('--project <id or name>', 'project; needed when you have several')
    .action(async (options: { project?: string }, command: Command) => {
      const session = openSession(command);
      const projectId = await chooseProject(session, options.project);
      if (isInteractive(session) && process.stdout.isTTY)
        return await liveScreen(EVERY_MS, async () => screen(await look(session, projectId)));
      const seen = await look(session, projectId);
      print(session, seen.allocations, () => screen(seen).join('\n'));
    });
}

interface Seen {
  allocations: { items: Schemas['Allocation'][]; next_page: string | null };
  spend: Schemas['Spend'][];
}

async function look({ client }: Session, project_id: string): Promise<Seen> {
  const { organization_id } = await unwrap(
    client.GET('/api/v1/projects/{project_id}', { params: { path: { project_id } } }),
  );
  const [allocations, { data: money }] = await Promise.all([
    unwrap(
      client.GET('/api/v1/allocations', { params: { query: { project_id, state: 'live', limit: 200 } } }),
    ),
    // Not everybody may see the money; what runs is shown all the same.
    client.GET('/api/v1/billing/spend', { params: { query: { organization_id, project_id } } }),
  ]);
  return { allocations, spend: money?.spend ?? [] };
}

function screen({ allocations: { items }, spend }: Seen): string[] {
  const gpus = items.reduce((sum, one) => sum + one.gpu_count, 0);
  const head = spend.map(
    (one) =>
      `${money(one.per_hour)} per hour, ${money(one.available)} available, runs out ${one.runs_out_at ?? 'never'}, ` +
      paintState(one.standing),
  );
  const rows = items.map((one) => [
    one.name,
    String(one.gpu_count),
    one.sku,
    one.region,
    paintState(one.state),
    one.states.projected?.stage ?? '-',
    money(one.quote.per_hour),
    money(one.cost_so_far),
    one.ends_at ?? '-',
  ]);
  const titles = ['NAME', 'GPUS', 'SKU', 'REGION', 'STATE', 'STAGE', 'PER HOUR', 'COST', 'ENDS'];
  return [
    paint('bold', `${counted(items.length, 'allocation')}, ${counted(gpus, 'GPU')}`),
    ...head,
    '',
    ...(rows.length === 0 ? ['Nothing runs. Try: gpuaas launch'] : table([titles, ...rows]).split('\n')),
  ];
}
