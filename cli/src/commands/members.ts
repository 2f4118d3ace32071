import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print } from '../print.ts';
import { table } from '../table.ts';
import { chooseOrganization, openSession } from '../session.ts';

export function addMembers(program: Command): void {
  const members = program.command('members').description('the people of your organization');
  members
    .command('list')
    .description('who is in it, and in which groups')
    .option('--organization <id>', 'organization; needed when you belong to several')
    .action(async (options: { organization?: string }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const organization_id = await chooseOrganization(session, options.organization);
      const page = await unwrap(
        client.GET('/api/v1/members', { params: { query: { organization_id, limit: 200 } } }),
      );
      print(session, page, () => {
        const rows = page.items.map((m) => [
          m.id,
          m.email,
          m.state,
          m.bindings.map((b) => b.permission_group_name).join(', '),
        ]);
        return table([['ID', 'ADDRESS', 'STATE', 'GROUPS'], ...rows]);
      });
    });
  members
    .command('disable')
    .description('end their keys and rights; what they run passes to its projects')
    .argument('<id>', 'member id')
    .action(async (id: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const params = { path: { member_id: id } };
      const member = await unwrap(client.POST('/api/v1/members/{member_id}/disable', { params }));
      print(session, member, () => `${member.email} is disabled.`);
    });
  members
    .command('enable')
    .description('give a disabled member their rights back')
    .argument('<id>', 'member id')
    .action(async (id: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const params = { path: { member_id: id } };
      const member = await unwrap(client.POST('/api/v1/members/{member_id}/enable', { params }));
      print(session, member, () => `${member.email} is active.`);
    });
  members
    .command('remove')
    .description('end their membership')
    .argument('<id>', 'member id')
    .action(async (id: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      await unwrap(client.DELETE('/api/v1/members/{member_id}', { params: { path: { member_id: id } } }));
      print(session, { id }, () => `${id} is removed.`);
    });
}
