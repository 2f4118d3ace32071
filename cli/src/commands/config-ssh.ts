import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { print } from '../print.ts';
import { ownAllocations, type Allocation } from '../find-allocation.ts';
import { readIfThere, replaceFile, sshFile } from '../reach/ssh-files.ts';
import { prepareLogin, type SshLogin } from '../reach/ssh-login.ts';
import { openSession } from '../session.ts';

/** So that `ssh`, `rsync`, editors and whatever else reads the configuration of OpenSSH reach every machine by name. */
export function addConfigSsh(program: Command): void {
  program
    .command('config-ssh')
    .description('let plain ssh, rsync and editors reach your machines as gpuaas.<name>')
    .option('--include', 'also add the line that includes it to ~/.ssh/config')
    .action(async (options: { include?: boolean }, command: Command) => {
      const session = openSession(command);
      const hosts: { host: string; allocation_id: string }[] = [];
      const blocks: string[] = [];
      for await (const allocation of ownAllocations(session.client, 'active')) {
        const host = hostOf(allocation, hosts);
        hosts.push({ host, allocation_id: allocation.id });
        blocks.push(blockOf(host, await prepareLogin(session, allocation.id)));
      }
      const file = sshFile('config');
      const head = '# Written by gpuaas config-ssh, each time as a whole.\n';
      const changed = await replaceFile(file, [head, ...blocks].join('\n'));
      const include = `Include "${file}"`;
      const personal = join(homedir(), '.ssh', 'config');
      const content = await readIfThere(personal);
      let included = content.split('\n').includes(include);
      // An Include inside a Host block would hold for that host alone, so it stands first.
      if (options.include && !included) included = await replaceFile(personal, `${include}\n\n${content}`);
      print(session, { file, changed, included, hosts }, () =>
        [
          ...hosts.map(({ host }) => `ssh ${host}`),
          `${file} ${changed ? 'was written' : 'is up to date'}.`,
          ...(included ? [] : [`Put this at the top of ${personal}, or use --include:`, `  ${include}`]),
        ].join('\n'),
      );
    });
}

function hostOf({ id, name }: Allocation, taken: { host: string }[]): string {
  const host = `gpuaas.${name}`;
  return taken.some((other) => other.host === host) ? `${host}.${id}` : host;
}

function blockOf(host: string, { options }: SshLogin): string {
  return [`Host ${host}`, ...options.map(([name, value]) => `  ${name} ${value}`), ''].join('\n');
}
