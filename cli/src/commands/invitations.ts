import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print } from '../print.ts';
import { table } from '../table.ts';
import { chooseOrganization, openSession } from '../session.ts';

export function addInvitations(program: Command): void {
  const invitations = program.command('invitations').description('who was asked to join your organization');
  invitations
    .command('list')
    .description('newest first')
    .option('--organization <id>', 'organization; needed when you belong to several')
    .action(async (options: { organization?: string }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const organization_id = await chooseOrganization(session, options.organization);
      const page = await unwrap(
        client.GET('/api/v1/invitations', { params: { query: { organization_id, limit: 200 } } }),
      );
      print(session, page, () => {
        const rows = page.items.map((i) => [i.id, i.email, i.permission_group, i.state, i.expires_at]);
        return table([['ID', 'ADDRESS', 'GROUP', 'STATE', 'EXPIRES'], ...rows]);
      });
    });
  invitations
    .command('create')
    .description('invite somebody; prints the link to send them, once')
    .argument('<email>', 'the address they sign in with')
    .requiredOption('--group <group>', 'built-in group, such as regular_user, or the id of one of your own')
    .option('--project <id>', 'give the group in this project only')
    .option('--organization <id>', 'organization; needed when you belong to several')
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
  invitations
    .command('revoke')
    .description('make an open invitation worthless')
    .argument('<id>', 'invitation id')
    .action(async (id: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const params = { path: { invitation_id: id } };
      await unwrap(client.DELETE('/api/v1/invitations/{invitation_id}', { params }));
      print(session, { id }, () => `${id} is revoked.`);
    });
}
