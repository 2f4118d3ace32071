import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { findAllocation } from '../../find-allocation.ts';
import { connectSocket } from '../../reach/connect-socket.ts';
import { openSession } from '../../session.ts';

/** The console's terminal: needs no SSH key. */
export function addTerminal(program: Command): void {
  program
    .command('terminal')
    .description('open a shell in a machine; needs no SSH key')
    .argument('<allocation>', 'id or name')
    .action(async (called: string, _options, command: Command) => {
      const { client, url } = openSession(command);
      const { token, websocket_path } = await unwrap(
        client.POST('/api/v1/allocations/{allocation_id}/terminal-token', {
          params: { path: { allocation_id: await findAllocation(client, called, 'active') } },
        }),
      );
      const socket = await connectSocket(url, websocket_path, { authorization: `Bearer ${token}` });
      const { stdin, stdout } = process;
      const size = () => ({ cols: stdout.columns ?? 80, rows: stdout.rows ?? 24 });
      socket.send(JSON.stringify({ type: 'auth', token, ...size() }));
      stdout.on('resize', () => socket.send(JSON.stringify({ type: 'resize', ...size() })));
      let reason = 'Connection lost.';
      socket.on('message', (data: Buffer, isBinary) => {
        if (isBinary) return void stdout.write(data);
        const message: { type: string; reason?: string } = JSON.parse(data.toString());
        if (message.type === 'closed') reason = message.reason ?? reason;
        if (message.type !== 'ready') return;
        if (stdin.isTTY) stdin.setRawMode(true);
        stdin.on('data', (bytes: Buffer) => socket.send(bytes));
      });
      socket.resume();
      const code = await new Promise<number>((resolve) => {
        socket.on('close', (status, words) => {
          if (words.length > 0) reason = words.toString();
          resolve(status === 1000 ? 0 : 1);
        });
      });
      if (stdin.isTTY) stdin.setRawMode(false);
      console.error(`\n${reason}`);
      process.exit(code);
    });
}
