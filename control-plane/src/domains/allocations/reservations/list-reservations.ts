import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor, given } from '../../../platform/db/given.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { moneyJson } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { costFor } from '../../billing/funds/covers.ts';
import { reservationName } from './owned-reservations.ts';

type Reservation = components['schemas']['Reservation'];

interface Query {
  /** All projects if omitted. */
  project_id?: string;
  id?: string;
  limit: number;
  page?: string;
}

/** Newest first. Tenants see how much is reserved, used and held; operators also see the nodes. */
export async function listReservations(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  query: Query,
  sees: 'counts' | 'nodes',
): Promise<Page<Reservation>> {
  const now = clock.now();
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('capacity_reservations')
    .selectAll()
    .$call(given(query.project_id, (q, projectId) => q.where('project_id', '=', projectId)))
    .$call(given(query.id, (q, id) => q.where('id', '=', id)))
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  const kept = await withRole(tx, 'gpuaas_worker', () =>
    keptNodes(
      tx,
      page.rows.map(({ id }) => id),
    ),
  );
  const items = page.rows.map((row): Reservation => {
    const state = stateOf(row, now);
    const nodes = kept.filter(({ reservation_id }) => reservation_id === row.id);
    return {
      id: row.id,
      resource_name: reservationName(row),
      organization_id: row.organization_id,
      project_id: row.project_id,
      sku: row.sku,
      region: row.region,
      node_count: row.node_count,
      gpu_count: row.gpu_count,
      starts_at: row.starts_at.toISOString(),
      ends_at: row.ends_at.toISOString(),
      reason: row.reason,
      state,
      lapse_reason: row.lapse_reason,
      gpus_used: nodes.reduce((sum, { gpus_used }) => sum + gpus_used, 0),
      held: isLive(state) ? heldMoney(policies, row) : null,
      nodes: sees === 'nodes' ? nodes.map(({ node_id, hostname }) => ({ node_id, hostname })) : null,
      created_at: row.created_at.toISOString(),
    };
  });
  return { items, next_page: page.next_page };
}

function stateOf(
  row: { starts_at: Date; ends_at: Date; cancelled_at: Date | null; lapse_reason: string | null },
  now: Date,
): Reservation['state'] {
  if (row.cancelled_at) return row.lapse_reason === null ? 'cancelled' : 'lapsed';
  if (now < row.starts_at) return 'upcoming';
  return now < row.ends_at ? 'active' : 'over';
}

function isLive(state: Reservation['state']): boolean {
  return state === 'upcoming' || state === 'active';
}

function heldMoney(
  policies: Services['policies'],
  row: { organization_id: string; currency: string | null; held_per_hour_micros: bigint },
): Reservation['held'] {
  if (row.currency === null || row.held_per_hour_micros === 0n) return null;
  const seconds = policies.get('reservations.hold_seconds', { organizationId: row.organization_id });
  return moneyJson({ currency: row.currency, micros: costFor(row.held_per_hour_micros, seconds) });
}

interface KeptNode {
  reservation_id: string;
  node_id: string;
  hostname: string;
  gpus_used: number;
}

export async function keptNodes(tx: Tx, reservationIds: readonly string[]): Promise<KeptNode[]> {
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

/** Whether as many of its GPUs are used as the policy requires. */
export async function isUsed(
  { policies }: Pick<Services, 'policies'>,
  tx: Tx,
  row: { id: string; organization_id: string; gpu_count: number },
): Promise<boolean> {
  const used = (await keptNodes(tx, [row.id])).reduce((sum, { gpus_used }) => sum + gpus_used, 0);
  const percent = policies.get('reservations.used_percent', { organizationId: row.organization_id });
  return used * 100 >= row.gpu_count * percent;
}
