import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { InvalidArgumentError, type Command } from 'commander';
import { findAllocation } from '../find-allocation.ts';
import { carry, portOpener } from '../reach/open-port.ts';
import { openSession } from '../session.ts';

interface Ports {
  local: number;
  remote: number;
}

export function addForward(program: Command): void {
  program
    .command('forward')
    .description('reach a port of a machine at a port of this one')
    .argument('<allocation>', 'id or name')
    .argument('<ports...>', 'LOCAL:REMOTE, or one number for both; LOCAL 0 takes a free one', addPorts)
    .option(
      '--address <address>',
      'where to listen; others reach it if it is not this machine alone',
      '127.0.0.1',
    )
    .action(async (called: string, ports: Ports[], options: { address: string }, command: Command) => {
      const { client, url, json } = openSession(command);
      const allocationId = await findAllocation(client, called, 'active');
      for (const { local, remote } of ports) {
        const open = portOpener({ client, url, allocationId, port: remote });
        const server = createServer(
          { allowHalfOpen: true, pauseOnConnect: true, noDelay: true },
          (connection) => {
            connection.on('error', () => connection.destroy());
            open().then(
              (socket) => carry(socket, connection),
              (error: unknown) => {
                connection.destroy();
                console.error(
                  `gpuaas: port ${remote}: ${error instanceof Error ? error.message : String(error)}`,
                );
              },
            );
          },
        );
        server.listen(local, options.address);
        await once(server, 'listening');
        const { address, port } = server.address() as AddressInfo;
        const line = { address, port, allocation_id: allocationId, remote_port: remote };
        console.log(
          json ? JSON.stringify(line) : `${address}:${port} is port ${remote} of ${called}. Ctrl-C ends it.`,
        );
      }
      await once(process, 'SIGINT');
      process.exit(0);
    });
}

function addPorts(text: string, before: Ports[] | undefined): Ports[] {
  const [, local, remote] = /^(?:(\d{1,5}):)?(\d{1,5})$/.exec(text) ?? [];
  const ports = { local: Number(local ?? remote), remote: Number(remote) };
  if (!remote || ports.local > 65_535 || ports.remote < 1 || ports.remote > 65_535)
    throw new InvalidArgumentError('give LOCAL:REMOTE, such as 8888:8888');
  return [...(before ?? []), ports];
}
