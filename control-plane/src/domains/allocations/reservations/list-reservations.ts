import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { decodePage, pageOf } from '../../../platform/http/pagination.ts';
import { reservationName } from './owned-reservations.ts';

type Reservation = components['schemas']['Reservation'];

interface Query {
  /** All projects when left out. */
  project_id?: string;
  id?: string;
  limit: number;
  page?: string;
}

/** Newest first. Tenants see how much is kept and used, operators also where. */
export async function listReservations(
  tx: Tx,
  now: Date,
  query: Query,
  sees: 'counts' | 'nodes',
): Promise<{ items: Reservation[]; next_page: string | null }> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('capacity_reservations')
    .selectAll()
    .$if(query.project_id !== undefined, (q) => q.where('project_id', '=', query.project_id!))
    .$if(query.id !== undefined, (q) => q.where('id', '=', query.id!))
    .$if(before !== null, (q) => q.where('id', '<', before![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  const kept = await withRole(tx, 'gpuaas_worker', () =>
    keptNodes(
      tx,
      page.rows.map(({ id }) => id),
    ),
  );
  const items = page.rows.map((row): Reservation => {
    const nodes = kept.filter(({ reservation_id }) => reservation_id === row.id);
    return {
      id: row.id,
      resource_name: reservationName(row),
      organization_id: row.organization_id,
      project_id: row.project_id,
      sku: row.sku,
      region: row.region,
      node_count: row.node_count,
      starts_at: row.starts_at.toISOString(),
      ends_at: row.ends_at.toISOString(),
      reason: row.reason,
      state: stateOf(row, now),
      gpus_used: nodes.reduce((sum, { gpus_used }) => sum + gpus_used, 0),
      nodes: sees === 'nodes' ? nodes.map(({ node_id, hostname }) => ({ node_id, hostname })) : null,
      created_at: row.created_at.toISOString(),
    };
  });
  return { items, next_page: page.next_page };
}

function stateOf(
  row: { starts_at: Date; ends_at: Date; cancelled_at: Date | null },
  now: Date,
): Reservation['state'] {
  if (row.cancelled_at) return 'cancelled';
  if (now < row.starts_at) return 'upcoming';
  return now < row.ends_at ? 'active' : 'over';
}

interface KeptNode {
  reservation_id: string;
  node_id: string;
  hostname: string;
  gpus_used: number;
}

async function keptNodes(tx: Tx, reservationIds: readonly string[]): Promise<KeptNode[]> {
  const { rows } = await sql<KeptNode>`
    select p.reservation_id, p.node_id, n.hostname, (
        select coalesce(sum(case c.claim_kind when 'slot' then 1 else a.gpu_count end), 0)::integer
        from (select distinct e.claim_id as id from claim_cells e where e.node_id = p.node_id) as live
          join allocation_resource_claims c on c.id = live.id join allocations a on a.id = c.allocation_id
        where a.project_id = p.holder_id
      ) as gpus_used
    from node_promises p join nodes n on n.id = p.node_id
    where p.reservation_id = any(${reservationIds}::uuid[])
    order by n.hostname`.execute(tx);
  return rows;
}
