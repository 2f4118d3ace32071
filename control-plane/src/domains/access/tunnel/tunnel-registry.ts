import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { repeat, type RepeatHandle } from '../../../platform/repeat.ts';
import type { Services } from '../../../platform/services.ts';
import type { TunnelHub } from './tunnel-hub.ts';

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
    opened: (nodeId) => void takeOver(db, hub.replicaId, address, nodeId).catch(complain),
    closed: (nodeId) => void giveUp(db, hub.replicaId, [nodeId]).catch(complain),
  });
  const renewal = repeat(RENEW_MS, () => renew(db, hub.replicaId, address, hub.nodeIds()), complain);
  return {
    async stop() {
      await renewal.stop();
      await giveUp(db, hub.replicaId, hub.nodeIds()).catch(complain);
    },
  };
}

/** The newest connection of a host is where it is. */
async function takeOver(db: Db, replicaId: string, address: string, nodeId: string): Promise<void> {
  await sql`
    insert into node_tunnels (node_id, replica_id, address, leased_until)
    values (${nodeId}, ${replicaId}, ${address}, now() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (node_id) do update set replica_id = excluded.replica_id, address = excluded.address,
      connected_at = now(), leased_until = excluded.leased_until`.execute(db);
}

/** Does not take back a host that has moved to another process. */
async function renew(db: Db, replicaId: string, address: string, nodeIds: string[]): Promise<void> {
  if (nodeIds.length > 0) {
    await sql`
      insert into node_tunnels as t (node_id, replica_id, address, leased_until)
      select id, ${replicaId}::uuid, ${address}, now() + make_interval(secs => ${LEASE_SECONDS})
      from unnest(${nodeIds}::uuid[]) as id
      on conflict (node_id) do update set replica_id = excluded.replica_id, address = excluded.address,
        leased_until = excluded.leased_until
      where t.replica_id = excluded.replica_id or t.leased_until < now()`.execute(db);
  }
  await sql`delete from node_tunnels where leased_until < now() - interval '1 minute'`.execute(db);
}

async function giveUp(db: Db, replicaId: string, nodeIds: string[]): Promise<void> {
  if (nodeIds.length === 0) return;
  await db
    .deleteFrom('node_tunnels')
    .where('node_id', 'in', nodeIds)
    .where('replica_id', '=', replicaId)
    .execute();
}

/** Where the host is connected, if it is. */
export async function findTunnel(
  db: Db,
  nodeId: string,
): Promise<{ replicaId: string; address: string } | null> {
  const row = await db
    .selectFrom('node_tunnels')
    .select(['replica_id', 'address'])
    .where('node_id', '=', nodeId)
    .where('leased_until', '>', sql<Date>`now()`)
    .executeTakeFirst();
  return row ? { replicaId: row.replica_id, address: row.address } : null;
}
