import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LabNamespace } from './lab-namespace.ts';

const MAIN = fileURLToPath(new URL('relay-main.ts', import.meta.url));

/** Makes one of our local ports reachable in the namespace under the same number. */
export async function exposeLocalPort(room: LabNamespace, folder: string, port: number): Promise<() => void> {
  const path = join(folder, `relay-${port}.sock`);
  const server = createServer((client) => {
    const target = connect(port, '127.0.0.1');
    client.pipe(target).pipe(client);
    client.on('error', () => target.destroy());
    target.on('error', () => client.destroy());
  });
  server.listen(path);
  await once(server, 'listening');
  const child = room.start(process.execPath, [MAIN, String(port), path], {});
  await Promise.race([
    once(child.stdout!, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error(`no relay for port ${port}`))),
  ]);
  return () => {
    child.kill('SIGKILL');
    server.close();
  };
}
