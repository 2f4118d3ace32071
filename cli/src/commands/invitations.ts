import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print } from '../print.ts';
import { formatTable } from '../table.ts';
import { chooseOrganization, openSession } from '../session.ts';

export function addInvitations(program: Command): void {
  const invitations = program.command('invitations').description('manage invitations');
  invitations
    .command('list')
    .description('list invitations, newest first')
    .option('--organization <id>', 'organization; required if you belong to several')
    .action(async (options: { organization?: string }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const organization_id = await chooseOrganization(session, options.organization);
      const page = await unwrap(
        client.GET('/api/v1/invitations', { params: { query: { organization_id, limit: 200 } } }),
      );
      print(session, page, () => {
        const rows = page.items.map((i) => [i.id, i.email, i.permission_group, i.state, i.expires_at]);
        return formatTable([['ID', 'ADDRESS', 'GROUP', 'STATE', 'EXPIRES'], ...rows]);
      });
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
  invitations
    .command('revoke')
    .description('revoke a pending invitation')
    .argument('<id>', 'invitation id')
    .action(async (id: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const params = { path: { invitation_id: id } };
      await unwrap(client.DELETE('/api/v1/invitations/{invitation_id}', { params }));
      print(session, { id }, () => `Revoked ${id}.`);
    });
}
