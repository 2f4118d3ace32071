import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { addCommandById, addListOfOrganization } from './list-of-organization.ts';

export function addMembers(program: Command): void {
  const members = program.command('members').description('manage members');
  const argument = 'member id';
  const path = (id: string) => ({ params: { path: { member_id: id } } });
  addListOfOrganization(members, {
    description: 'list members and their permission groups',
    read: (client, query) => unwrap(client.GET('/api/v1/members', { params: { query } })),
    headings: ['ID', 'ADDRESS', 'STATE', 'GROUPS'],
    row: (m) => [m.id, m.email, m.state, m.bindings.map((b) => b.permission_group_name).join(', ')],
  });
  addCommandById(members, {
    name: 'disable',
    description: 'disable a member: revokes keys and permissions, transfers resources to projects',
    argument,
    run: (client, id) => unwrap(client.POST('/api/v1/members/{member_id}/disable', path(id))),
    done: ({ email }) => `Disabled ${email}.`,
  });
  addCommandById(members, {
    name: 'enable',
    description: 'enable a disabled member',
    argument,
    run: (client, id) => unwrap(client.POST('/api/v1/members/{member_id}/enable', path(id))),
    done: ({ email }) => `Enabled ${email}.`,
  });
  addCommandById(members, {
    name: 'remove',
    description: 'remove a member',
    argument,
    run: async (client, id) => {
      await unwrap(client.DELETE('/api/v1/members/{member_id}', path(id)));
      return { id };
    },
    done: ({ id }) => `Removed ${id}.`,
  });
}
