import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print } from '../print.ts';
import { table } from '../table.ts';
import { chooseOrganization, openSession } from '../session.ts';

export function addApiKeys(program: Command): void {
  const keys = program.command('api-keys').description('keys for programs that act as you');
  keys
    .command('list')
    .description('your own, or those of all members of an organization; newest first')
    .option('--organization <id>', 'of all members of this organization')
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
        return table([['ID', 'NAME', 'PREFIX', 'STATE', 'EXPIRES', 'LAST USED'], ...rows]);
      });
    });
  keys
    .command('create')
    .description('make a key; prints it once')
    .argument('<name>', 'to tell it from others')
    .option('--scope <permissions...>', 'what it may do; without it, all that you may')
    .option('--expires <time>', 'when it ends, such as 2030-01-31T00:00:00Z')
    .option('--organization <id>', 'organization; needed when you belong to several')
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
        print(session, made, () => made.secret ?? 'It was shown before.');
      },
    );
  keys
    .command('revoke')
    .description('refused from the next request on')
    .argument('<id>', 'key id')
    .action(async (id: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const params = { path: { api_key_id: id } };
      await unwrap(client.DELETE('/api/v1/api-keys/{api_key_id}', { params }));
      print(session, { id }, () => `${id} is revoked.`);
    });
}
