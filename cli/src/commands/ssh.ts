import { Duplex } from 'node:stream';
import type { Command } from 'commander';
import { findAllocation } from '../find-allocation.ts';
import { carry, portOpener } from '../reach/open-port.ts';
import { runOpenSsh } from '../reach/run-openssh.ts';
import { prepareLogin } from '../reach/ssh-login.ts';
import { openSession } from '../session.ts';

const SSH_PORT = 22;

interface SshOptions {
  identity?: string;
  stdio?: boolean;
}

export function addSsh(program: Command): void {
  program
    .command('ssh')
    .description('log in to a machine with OpenSSH, through the platform')
    .argument('<allocation>', 'id or name')
    .argument('[command...]', 'what to run there instead of a shell; after --')
    .option('-i, --identity <file>', 'the private key to log in with')
    .option('--stdio', 'be the pipe that ssh speaks through (ProxyCommand)')
    .action(async (called: string, words: string[], options: SshOptions, command: Command) => {
      const session = openSession(command);
      const { client, url } = session;
      const allocationId = await findAllocation(client, called, 'active');
      if (options.stdio) {
        const socket = await portOpener({ client, url, allocationId, port: SSH_PORT })();
        const pipe = Duplex.from({ readable: process.stdin, writable: process.stdout });
        // Without the machine's half there is nothing left to say.
        pipe.once('finish', () => socket.close());
        await carry(socket, pipe);
        return process.exit(0);
      }
      const login = await prepareLogin(session, allocationId);
      const identity = options.identity ? ['-i', options.identity] : [];
      process.exitCode = await runOpenSsh(
        'ssh',
        login,
        [...identity, login.alias, ...words],
        session.credential,
      );
    });
}
