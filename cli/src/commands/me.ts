import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print } from '../print.ts';
import { table } from '../table.ts';
import { openSession } from '../session.ts';

export function addMe(program: Command): void {
  program
    .command('me')
    .alias('whoami')
    .description('who you are and where you may act')
    .action(async (_options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const me = await unwrap(client.GET('/api/v1/me'));
      print(session, me, () => {
        const projects = me.organizations.flatMap((o) => o.projects.map((p) => [p.id, p.name, o.name]));
        const who = me.user
          ? `${me.user.name} <${me.user.email}>`
          : `service account ${me.service_account?.name}`;
        return `${who}\n${table([['PROJECT', 'NAME', 'ORGANIZATION'], ...projects])}`;
      });
    });
}
