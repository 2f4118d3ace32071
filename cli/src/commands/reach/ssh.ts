import { Duplex } from 'node:stream';
import type { Command } from 'commander';
import { findAllocation } from '../../find-allocation.ts';
import { pipeUntilClosed, createPortOpener } from '../../reach/open-port.ts';
import { runOpenSsh } from '../../reach/run-openssh.ts';
import { explainFailure, prepareLogin, requireKey } from '../../reach/ssh-login.ts';
import { openSession } from '../../session.ts';

const SSH_PORT = 22;
/** The code with which `ssh` reports its own failure, whatever the remote command did. */
const SSH_FAILED = 255;

interface SshOptions {
  identity?: string;
  stdio?: boolean;
}

export function addSsh(program: Command): void {
  program
    .command('ssh')
    .description('connect to a machine with OpenSSH through the platform')
    .argument('<allocation>', 'id or name')
    .argument('[command...]', 'what to run there instead of a shell')
    .option('-i, --identity <file>', 'private key file')
    .option('--stdio', 'act as an SSH ProxyCommand')
    .action(async (called: string, words: string[], options: SshOptions, command: Command) => {
      const session = openSession(command);
      const { client, url } = session;
      const allocationId = await findAllocation(client, called, 'active');
      if (options.stdio) {
        const socket = await createPortOpener({ client, url, allocationId, port: SSH_PORT })();
        const pipe = Duplex.from({ readable: process.stdin, writable: process.stdout });
        // Once the machine has closed its half there is nothing left to send.
        pipe.once('finish', () => socket.close());
        await pipeUntilClosed(socket, pipe);
        return process.exit(0);
      }
      const login = await prepareLogin(session, allocationId);
      requireKey(login);
      const identity = options.identity ? ['-i', options.identity] : [];
      process.exitCode = await runOpenSsh(
        'ssh',
        login,
        [...identity, login.alias, ...words],
        session.credential,
      );
      if (process.exitCode === SSH_FAILED) explainFailure(login);
    });
}
