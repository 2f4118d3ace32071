import type { Command } from 'commander';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { print } from '../print.ts';
import { formatTable } from '../table.ts';
import { chooseOrganization, openSession } from '../session.ts';

/** Adds `list` to a group of commands: what an organization has, as a table. */
export function addListOfOrganization<Item>(
  group: Command,
  list: {
    description: string;
    read: (
      client: GpuaasClient,
      query: { organization_id: string; limit: number },
    ) => Promise<{ items: Item[] }>;
    headings: string[];
    row: (item: Item) => string[];
  },
): void {
  group
    .command('list')
    .description(list.description)
    .option('--organization <id>', 'organization; required if you belong to several')
    .action(async (options: { organization?: string }, command: Command) => {
      const session = openSession(command);
      const organization_id = await chooseOrganization(session, options.organization);
      const page = await list.read(session.client, { organization_id, limit: 200 });
      print(session, page, () => formatTable([list.headings, ...page.items.map(list.row)]));
    });
}

/** Adds a command that acts on one thing by its id, and says what it did. */
export function addCommandById<Answer extends object>(
  group: Command,
  act: {
    name: string;
    description: string;
    argument: string;
    run: (client: GpuaasClient, id: string) => Promise<Answer>;
    done: (answer: Answer) => string;
  },
): void {
  group
    .command(act.name)
    .description(act.description)
    .argument('<id>', act.argument)
    .action(async (id: string, _options, command: Command) => {
      const session = openSession(command);
      const answer = await act.run(session.client, id);
      print(session, answer, () => act.done(answer));
    });
}
