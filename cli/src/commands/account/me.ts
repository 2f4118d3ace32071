import type { Command } from 'commander';
import { readMe } from '@gpuaas/sdk/me';
import { print } from '../../print.ts';
import { formatTable } from '../../table.ts';
import { openSession } from '../../session.ts';

type Me = Awaited<ReturnType<typeof readMe>>;

export function addMe(program: Command): void {
  program
    .command('me')
    .alias('whoami')
    .description('show who you are, your projects and your permissions')
    .action(async (_options, command: Command) => {
      const session = openSession(command);
      const me = await readMe(session.client);
      print(session, me, () => describe(me));
    });
}

function describe(me: Me): string {
  const who = me.user ? `${me.user.name} <${me.user.email}>` : `service account ${me.service_account?.name}`;
  const projects = me.organizations.flatMap((organization) =>
    organization.projects.map((project) => [project.name, organization.name, project.id]),
  );
  return [
    who,
    formatTable([['PROJECT', 'ORGANIZATION', 'ID'], ...projects]),
    ...permissionsOf(me).flatMap(([where, permissions]) => [
      '',
      `Permissions in ${where}`,
      ...wrap(permissions),
    ]),
  ].join('\n');
}

function permissionsOf(me: Me): [where: string, permissions: string[]][] {
  const all: [string, string[]][] = [
    ['the platform', me.platform_permissions],
    ...me.organizations.flatMap((organization): [string, string[]][] => [
      [`the organization ${organization.name}`, organization.permissions],
      ...organization.projects.map((project): [string, string[]] => [
        `the project ${project.name}`,
        project.permissions,
      ]),
    ]),
  ];
  return all.filter(([, permissions]) => permissions.length > 0);
}

const WIDTH = 100;

function wrap(words: string[]): string[] {
  const lines: string[] = [];
  for (const word of words.toSorted()) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length + 2 <= WIDTH)
      lines[lines.length - 1] = `${last}, ${word}`;
    else lines.push(`  ${word}`);
  }
  return lines;
}
