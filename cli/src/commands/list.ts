import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print } from '../print.ts';
import { money, formatTable } from '../table.ts';
import { chooseProject, openSession } from '../session.ts';

export function addList(program: Command): void {
  program
    .command('list')
    .description('your allocations, newest first')
    .option('--project <id>', 'project; required if you have several')
    .action(async (options: { project?: string }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const projectId = await chooseProject(session, options.project);
      const page = await unwrap(
        client.GET('/api/v1/allocations', { params: { query: { project_id: projectId, limit: 200 } } }),
      );
      print(session, page, () => {
        const rows = page.items.map((a) => [
          a.id,
          a.name,
          String(a.gpu_count),
          a.state,
          money(a.cost_so_far),
        ]);
        return rows.length === 0
          ? 'No allocations yet. Try: gpuaas launch --gpus 1'
          : formatTable([['ID', 'NAME', 'GPUS', 'STATE', 'COST'], ...rows]);
      });
    });
}
