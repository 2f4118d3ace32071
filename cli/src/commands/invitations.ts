import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print } from '../print.ts';
import { chooseOrganization, openSession } from '../session.ts';
import { addCommandById, addListOfOrganization } from './list-of-organization.ts';

export function addInvitations(program: Command): void {
  const invitations = program.command('invitations').description('manage invitations');
  addListOfOrganization(invitations, {
    description: 'list invitations, newest first',
    read: (client, query) => unwrap(client.GET('/api/v1/invitations', { params: { query } })),
    headings: ['ID', 'ADDRESS', 'GROUP', 'STATE', 'EXPIRES'],
    row: (i) => [i.id, i.email, i.permission_group, i.state, i.expires_at],
  });
  invitations
    .command('create')
    .description('invite someone; the link is printed only once')
    .argument('<email>', 'e-mail address they sign in with')
    .requiredOption(
      '--group <group>',
      'permission group: a built-in one such as regular_user, or the id of a custom one',
    )
    .option('--project <id>', 'grant the permission group in this project only')
    .option('--organization <id>', 'organization; required if you belong to several')
    .action(
      async (
        email: string,
        options: { group: string; project?: string; organization?: string },
        command: Command,
      ) => {
        const session = openSession(command);
        const { client } = session;
        const body = {
          organization_id: await chooseOrganization(session, options.organization),
          email,
          permission_group: options.group,
          ...(options.project ? { project_id: options.project } : {}),
        };
        const made = await unwrap(client.POST('/api/v1/invitations', { body }));
        print(session, made, () => `Send this to ${email}; it works once:\n${made.accept_url}`);
      },
    );
  addCommandById(invitations, {
    name: 'revoke',
    description: 'revoke a pending invitation',
    argument: 'invitation id',
    run: async (client, id) => {
      const params = { path: { invitation_id: id } };
      await unwrap(client.DELETE('/api/v1/invitations/{invitation_id}', { params }));
      return { id };
    },
    done: ({ id }) => `Revoked ${id}.`,
  });
}
