import type { Command } from 'commander';
import { findAllocation } from '../../find-allocation.ts';
import { runOpenSsh } from '../../reach/run-openssh.ts';
import { prepareLogin, requireKey } from '../../reach/ssh-login.ts';
import { openSession } from '../../session.ts';
import { UsageError } from '../../usage-error.ts';

interface CpOptions {
  identity?: string;
  recursive?: boolean;
}

/** `machine:path`, as scp has it; a path with a slash before its colon is a local one. */
const REMOTE = /^([^/:]+):(.*)$/s;

export function addCp(program: Command): void {
  program
    .command('cp')
    .description('copy files to or from a machine with OpenSSH; a machine’s files are <allocation>:<path>')
    .argument('<paths...>', 'sources, then the destination')
    .option('-r, --recursive', 'copy folders recursively')
    .option('-i, --identity <file>', 'private key file')
    .action(async (paths: string[], options: CpOptions, command: Command) => {
      if (paths.length < 2) throw new UsageError('pass a source and a destination');
      const called = [...new Set(paths.flatMap((path) => REMOTE.exec(path)?.[1] ?? []))];
      const [machine, ...others] = called;
      if (!machine || others.length > 0) throw new UsageError('exactly one side must be <allocation>:<path>');
      const session = openSession(command);
      const login = await prepareLogin(session, await findAllocation(session.client, machine, 'active'));
      requireKey(login);
      const args = [
        ...(options.recursive ? ['-r'] : []),
        ...(options.identity ? ['-i', options.identity] : []),
        '--',
        ...paths.map((path) =>
          path.replace(REMOTE, (_all, _machine, file: string) => `${login.alias}:${file}`),
        ),
      ];
      process.exitCode = await runOpenSsh('scp', login, args, session.credential);
    });
}
