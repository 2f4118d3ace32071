import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print } from '../../print.ts';
import { formatTable } from '../../table.ts';
import { chooseOrganization, openSession } from '../../session.ts';

export function addApiKeys(program: Command): void {
  const keys = program.command('api-keys').description('your API keys');
  keys
    .command('list')
    .description('list your keys, or all keys of an organization; newest first')
    .option('--organization <id>', 'all members of this organization')
    .action(async (options: { organization?: string }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const query = {
        limit: 200,
        ...(options.organization ? { organization_id: options.organization } : {}),
      };
      const page = await unwrap(client.GET('/api/v1/api-keys', { params: { query } }));
      print(session, page, () => {
        const rows = page.items.map((k) => [
          k.id,
          k.name,
          k.prefix,
          k.state,
          k.expires_at ?? 'never',
          k.last_used_at ?? 'never',
        ]);
        return formatTable([['ID', 'NAME', 'PREFIX', 'STATE', 'EXPIRES', 'LAST USED'], ...rows]);
      });
    });
  keys
    .command('create')
    .description('create a key; it is printed only once')
    .argument('<name>', 'name of the key')
    .option('--scope <permissions...>', 'permissions of the key (default: all of yours)')
    .option('--expires <time>', 'when it ends, such as 2030-01-31T00:00:00Z')
    .option('--organization <id>', 'organization; required if you belong to several')
    .action(
      async (
        name: string,
        options: { scope?: string[]; expires?: string; organization?: string },
        command: Command,
      ) => {
        const session = openSession(command);
        const { client } = session;
        const body = {
          name,
          organization_id: await chooseOrganization(session, options.organization),
          ...(options.scope ? { scopes: options.scope } : {}),
          ...(options.expires ? { expires_at: options.expires } : {}),
        };
        const made = await unwrap(client.POST('/api/v1/api-keys', { body }));
        print(session, made, () => made.secret ?? 'The key was already shown.');
      },
    );
  keys
    .command('revoke')
    .description('revoke a key immediately')
    .argument('<id>', 'key id')
    .action(async (id: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const params = { path: { api_key_id: id } };
      await unwrap(client.DELETE('/api/v1/api-keys/{api_key_id}', { params }));
      print(session, { id }, () => `Revoked ${id}.`);
    });
}
