import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@gpuaas/control-plane/platform/db/embedded-postgres';
import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { runAsAdmin } from '@gpuaas/control-plane/platform/db/testing';
import { migrateWorkflows } from '@gpuaas/control-plane/platform/workflows/migrate-workflows';

export interface RestartablePostgres {
  /** A migrated database; the address stays when the server restarts. */
  url: string;
  /** `immediate` is like a crash: sessions are cut and the server recovers at its next start. */
  restart(manner: 'fast' | 'immediate'): Promise<void>;
  stop(): Promise<void>;
}

/** A separate server, so that its restart disturbs no other test. */
export async function startRestartablePostgres(): Promise<RestartablePostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-restartable-'));
  const start = () => startEmbeddedPostgres({ dataDir, settings: { fsync: 'off', full_page_writes: 'off' } });
  let server = await start();
  await runAsAdmin(server.url, 'create database lifecycle');
  await migrate(server.urlFor('lifecycle'));
  await migrateWorkflows(server.urlFor('lifecycle'));

  // The server comes back on another port; clients know only this one.
  const sockets = new Set<Socket>();
  const front = createServer((client) => {
    const behind = connect(Number(new URL(server.url).port), '127.0.0.1');
    for (const [one, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const address = new URL(server.urlFor('lifecycle'));
  address.port = String((front.address() as AddressInfo).port);
  return {
    url: address.href,
    async restart(manner) {
      await (manner === 'fast' ? server.stop() : server.stopImmediately());
      server = await start();
    },
    async stop() {
      front.close();
      for (const socket of sockets) socket.destroy();
      await server.stopImmediately();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
