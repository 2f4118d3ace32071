import type { Command } from 'commander';
import { readMe } from '@gpuaas/sdk/me';
import { print } from '../print.ts';
import { formatTable } from '../table.ts';
import { openSession } from '../session.ts';

export function addMe(program: Command): void {
  program
    .command('me')
    .alias('whoami')
    .description('show who you are and your projects')
    .action(async (_options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const me = await readMe(client);
      print(session, me, () => {
        const projects = me.organizations.flatMap((o) => o.projects.map((p) => [p.id, p.name, o.name]));
        const who = me.user
          ? `${me.user.name} <${me.user.email}>`
          : `service account ${me.service_account?.name}`;
        return `${who}\n${formatTable([['PROJECT', 'NAME', 'ORGANIZATION'], ...projects])}`;
      });
    });
}
