import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print } from '../../print.ts';
import { formatTable } from '../../table.ts';
import { openSession } from '../../session.ts';

export function addSshKeys(program: Command): void {
  const keys = program.command('ssh-keys').description('SSH public keys for your machines');
  keys
    .command('list')
    .description('list your keys, or those of a project')
    .option('--project <id>', 'keys of this project')
    .action(async (options: { project?: string }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const query = { limit: 200, ...(options.project ? { project_id: options.project } : {}) };
      const page = await unwrap(client.GET('/api/v1/ssh-keys', { params: { query } }));
      print(session, page, () => {
        const rows = page.items.map((k) => [k.id, k.name, k.type, k.fingerprint]);
        return formatTable([['ID', 'NAME', 'TYPE', 'FINGERPRINT'], ...rows]);
      });
    });
  keys
    .command('create')
    .description('add a public key')
    .argument('<file>', 'for example ~/.ssh/id_ed25519.pub')
    .option('--name <name>', 'name (default: file name)')
    .option('--project <id>', 'share with this project')
    .action(async (file: string, options: { name?: string; project?: string }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const body = {
        name: options.name ?? basename(file),
        public_key: (await readFile(file, 'utf8')).trim(),
        ...(options.project ? { project_id: options.project } : {}),
      };
      const key = await unwrap(client.POST('/api/v1/ssh-keys', { body }));
      print(session, key, () => `${key.id}  ${key.fingerprint}`);
    });
  keys
    .command('delete')
    .description('delete a key; running machines keep it')
    .argument('<id>', 'key id')
    .action(async (id: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const params = { path: { ssh_key_id: id } };
      await unwrap(client.DELETE('/api/v1/ssh-keys/{ssh_key_id}', { params }));
      print(session, { id }, () => `Deleted ${id}.`);
    });
}
