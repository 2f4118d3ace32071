import { once } from 'node:events';
import { createServer } from 'node:net';
import { InvalidArgumentError, type Command } from 'commander';
import { findAllocation } from '../../find-allocation.ts';
import { pipeUntilClosed, createPortOpener } from '../../reach/open-port.ts';
import { openSession } from '../../session.ts';

interface Ports {
  local: number;
  remote: number;
}

export function addForward(program: Command): void {
  program
    .command('forward')
    .description('forward a local port to a port of a machine')
    .argument('<allocation>', 'id or name')
    .argument('<ports...>', 'LOCAL:REMOTE, or one number for both; LOCAL 0 picks a free port', addPorts)
    .option(
      '--address <address>',
      'address to listen on; anything but localhost is reachable by others',
      '127.0.0.1',
    )
    .action(async (called: string, ports: Ports[], options: { address: string }, command: Command) => {
      const { client, url: server, json } = openSession(command);
      const allocationId = await findAllocation(client, called, 'active');
      for (const { local, remote } of ports) {
        const open = createPortOpener({ client, url: server, allocationId, port: remote });
        const listener = createServer(
          { allowHalfOpen: true, pauseOnConnect: true, noDelay: true },
          (connection) => {
            connection.on('error', () => connection.destroy());
            open().then(
              (socket) => pipeUntilClosed(socket, connection),
              (error: unknown) => {
                connection.destroy();
                console.error(
                  `gpuaas: port ${remote}: ${error instanceof Error ? error.message : String(error)}`,
                );
              },
            );
          },
        );
        listener.listen(local, options.address);
        await once(listener, 'listening');
        const bound = listener.address();
        if (bound === null || typeof bound === 'string') throw new Error('The listener has no port');
        const { address, port } = bound;
        const url = `${addressForBrowsers(address)}:${port}`;
        const line = { address, port, url, allocation_id: allocationId, remote_port: remote };
        console.log(
          json
            ? JSON.stringify(line)
            : `Forwarding ${url} to port ${remote} of ${called}. Press Ctrl-C to stop.`,
        );
      }
      await once(process, 'SIGINT');
      process.exit(0);
    });
}

/**
 * Cookies ignore ports: a browser that opened the port on 127.0.0.1 would send the machine the session of a console there.
 * The console takes and sets none on `localhost`.
 */
function addressForBrowsers(address: string): string {
  if (['127.0.0.1', '::1'].includes(address)) return 'http://localhost';
  return `http://${address.includes(':') ? `[${address}]` : address}`;
}

function addPorts(text: string, before: Ports[] | undefined): Ports[] {
  const [, local, remote] = /^(?:(\d{1,5}):)?(\d{1,5})$/.exec(text) ?? [];
  const ports = { local: Number(local ?? remote), remote: Number(remote) };
  if (!remote || ports.local > 65_535 || ports.remote < 1 || ports.remote > 65_535)
    throw new InvalidArgumentError('pass LOCAL:REMOTE, for example 8888:8888');
  return [...(before ?? []), ports];
}
