import { sql } from 'kysely';
import type { TunnelKind } from '@gpuaas/contracts/tunnel';
import type { Db } from '../../../platform/db/database.ts';
import { repeat, type RepeatHandle } from '../../../platform/repeat.ts';
import type { Services } from '../../../platform/services.ts';
import type { TunnelHub, TunnelName } from './tunnel-hub.ts';

/** A row that was not renewed for this long belongs to a dead process. */
const LEASE_SECONDS = 15;
const RENEW_MS = 5_000;

/** Writes down which hosts are connected to this process, for as long as they are. */
export function registerTunnels(
  services: Pick<Services, 'db' | 'log'>,
  hub: TunnelHub,
  address: string,
): RepeatHandle {
  const { db, log } = services;
  const complain = (error: unknown): void =>
    log.warn({ err: error }, 'tunnels could not be registered; other gateways may not find them');
  hub.watch({
    opened: (tunnel) => void takeOver(db, hub.replicaId, address, tunnel).catch(complain),
    closed: (tunnel) => void giveUp(db, hub.replicaId, [tunnel]).catch(complain),
  });
  const renewal = repeat(RENEW_MS, () => renew(db, hub.replicaId, address, hub.open()), complain);
  return {
    async stop() {
      await renewal.stop();
      await giveUp(db, hub.replicaId, hub.open()).catch(complain);
    },
  };
}

/** The newest connection of a host is where it is. */
async function takeOver(
  db: Db,
  replicaId: string,
  address: string,
  { nodeId, kind }: TunnelName,
): Promise<void> {
  await sql`
    insert into node_tunnels (node_id, kind, replica_id, address, leased_until)
    values (${nodeId}, ${kind}, ${replicaId}, ${address}, now() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (node_id, kind) do update set replica_id = excluded.replica_id, address = excluded.address,
      connected_at = now(), leased_until = excluded.leased_until`.execute(db);
}

/** Does not take back a host that has moved to another process. */
async function renew(db: Db, replicaId: string, address: string, open: TunnelName[]): Promise<void> {
  if (open.length > 0) {
    await sql`
      insert into node_tunnels as t (node_id, kind, replica_id, address, leased_until)
      select id, kind, ${replicaId}::uuid, ${address}, now() + make_interval(secs => ${LEASE_SECONDS})
      from unnest(${open.map(({ nodeId }) => nodeId)}::uuid[], ${open.map(({ kind }) => kind)}::text[]) as o (id, kind)
      on conflict (node_id, kind) do update set replica_id = excluded.replica_id, address = excluded.address,
        leased_until = excluded.leased_until
      where t.replica_id = excluded.replica_id or t.leased_until < now()`.execute(db);
  }
  await sql`delete from node_tunnels where leased_until < now() - interval '1 minute'`.execute(db);
}

async function giveUp(db: Db, replicaId: string, closed: TunnelName[]): Promise<void> {
  if (closed.length === 0) return;
  await sql`
    delete from node_tunnels as t
    using unnest(${closed.map(({ nodeId }) => nodeId)}::uuid[], ${closed.map(({ kind }) => kind)}::text[]) as c (id, kind)
    where t.node_id = c.id and t.kind = c.kind and t.replica_id = ${replicaId}`.execute(db);
}

/** Where the host is connected, if it is. */
export async function findTunnel(
  db: Db,
  { nodeId, kind }: { nodeId: string; kind: TunnelKind },
): Promise<{ replicaId: string; address: string } | null> {
  const row = await db
    .selectFrom('node_tunnels')
    .select(['replica_id', 'address'])
    .where('node_id', '=', nodeId)
    .where('kind', '=', kind)
    .where('leased_until', '>', sql<Date>`now()`)
    .executeTakeFirst();
  return row ? { replicaId: row.replica_id, address: row.address } : null;
}
