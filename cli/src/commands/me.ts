import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print, table } from '../print.ts';
import { openSession } from '../session.ts';

export function addMe(program: Command): void {
  program
    .command('me')
    .alias('whoami')
    .description('who you are and where you may act')
    .action(async (_options, command: Command) => {
      const { client, json } = openSession(command);
      const me = await unwrap(client.GET('/api/v1/me'));
      print(json, me, () => {
        const projects = me.organizations.flatMap((o) => o.projects.map((p) => [p.id, p.name, o.name]));
        const who = me.user
          ? `${me.user.name} <${me.user.email}>`
          : `service account ${me.service_account?.name}`;
        return `${who}\n${table([['PROJECT', 'NAME', 'ORGANIZATION'], ...projects])}`;
      });
    });
}
