import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print } from '../print.ts';
import { formatTable } from '../table.ts';
import { chooseOrganization, openSession } from '../session.ts';

export function addMembers(program: Command): void {
  const members = program.command('members').description('manage members');
  members
    .command('list')
    .description('list members and their permission groups')
    .option('--organization <id>', 'organization; required if you belong to several')
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
        return formatTable([['ID', 'ADDRESS', 'STATE', 'GROUPS'], ...rows]);
      });
    });
  members
    .command('disable')
    .description('disable a member: revokes keys and permissions, transfers resources to projects')
    .argument('<id>', 'member id')
    .action(async (id: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const params = { path: { member_id: id } };
      const member = await unwrap(client.POST('/api/v1/members/{member_id}/disable', { params }));
      print(session, member, () => `Disabled ${member.email}.`);
    });
  members
    .command('enable')
    .description('enable a disabled member')
    .argument('<id>', 'member id')
    .action(async (id: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const params = { path: { member_id: id } };
      const member = await unwrap(client.POST('/api/v1/members/{member_id}/enable', { params }));
      print(session, member, () => `Enabled ${member.email}.`);
    });
  members
    .command('remove')
    .description('remove a member')
    .argument('<id>', 'member id')
    .action(async (id: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      await unwrap(client.DELETE('/api/v1/members/{member_id}', { params: { path: { member_id: id } } }));
      print(session, { id }, () => `Removed ${id}.`);
    });
}
