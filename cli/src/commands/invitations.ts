import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print, table } from '../print.ts';
import { chooseOrganization, openSession } from '../session.ts';

export function addInvitations(program: Command): void {
  const invitations = program.command('invitations').description('who was asked to join your organization');
  invitations
    .command('list')
    .description('newest first')
    .option('--organization <id>', 'organization; needed when you belong to several')
    .action(async (options: { organization?: string }, command: Command) => {
      const { client, json } = openSession(command);
      const organization_id = await chooseOrganization(client, options.organization);
      const page = await unwrap(
        client.GET('/api/v1/invitations', { params: { query: { organization_id, limit: 200 } } }),
      );
      print(json, page, () => {
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
        const { client, json } = openSession(command);
        const body = {
          organization_id: await chooseOrganization(client, options.organization),
          email,
          permission_group: options.group,
          ...(options.project ? { project_id: options.project } : {}),
        };
        const made = await unwrap(client.POST('/api/v1/invitations', { body }));
        print(json, made, () => `Send this to ${email}; it works once:\n${made.accept_url}`);
      },
    );
  invitations
    .command('revoke')
    .description('make an open invitation worthless')
    .argument('<id>', 'invitation id')
    .action(async (id: string, _options, command: Command) => {
      const { client, json } = openSession(command);
      const params = { path: { invitation_id: id } };
      await unwrap(client.DELETE('/api/v1/invitations/{invitation_id}', { params }));
      print(json, { id }, () => `${id} is revoked.`);
    });
}
