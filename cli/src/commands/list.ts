import type { Command } from 'commander';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';
import type { Allocation } from '../find-allocation.ts';
import { print, warnIfCut } from '../print.ts';
import { money, formatTable } from '../table.ts';
import { chooseProject, openSession } from '../session.ts';

export function addList(program: Command): void {
  program
    .command('list')
    .description('your allocations, newest first')
    .option('--project <id>', 'project; required if you have several')
    .option('--all', 'fetch all pages')
    .action(async (options: { project?: string; all?: boolean }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const projectId = await chooseProject(session, options.project);
      const readPage = (query: { limit?: number; page?: string }) =>
        unwrap(
          client.GET('/api/v1/allocations', {
            params: { query: { project_id: projectId, limit: 200, ...query } },
          }),
        );
      const page = options.all
        ? { items: await collect(paginate(readPage)), next_page: null }
        : await readPage({});
      print(session, page, () => describe(page.items));
      if (!session.json) warnIfCut(page);
    });
}

async function collect<Item>(all: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of all) items.push(item);
  return items;
}

function describe(allocations: Allocation[]): string {
  if (allocations.length === 0) return 'No allocations yet. Try: gpuaas launch --gpus 1';
  const rows = allocations.map((a) => [
    a.name,
    a.state,
    String(a.gpu_count),
    money(a.quote.per_hour),
    money(a.cost_so_far),
    a.id,
  ]);
  return formatTable([['NAME', 'STATE', 'GPUS', 'PER HOUR', 'COST', 'ID'], ...rows]);
}
