import { policy } from '../../platform/policy/policy.ts';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db } from '../../platform/db/database.ts';
import { notFound } from '../../platform/http/problem.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { emptyCounts, postureOf, type SlotCounts, type SlotState } from './posture.ts';

type Node = components['schemas']['Node'];

/** A host that has been silent for longer than this is shown and treated as unreachable. */
export const UNREACHABLE_AFTER_MS = policy('fleet.unreachable_after_seconds') * 1000;

export function isConnected(lastHeartbeatAt: Date | null, now: Date): boolean {
  return lastHeartbeatAt !== null && now.getTime() - lastHeartbeatAt.getTime() < UNREACHABLE_AFTER_MS;
}

export async function listNodes(
  db: Db,
  now: Date,
  query: { limit: number; page?: string },
): Promise<{ items: Node[]; next_page: string | null }> {
  const after = decodePage(query.page, ['text']);
  const rows = await db
    .selectFrom('nodes')
    .selectAll()
    .$if(after !== null, (q) => q.where('hostname', '>', after![0]!))
    .orderBy('hostname')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.hostname]);
  return { items: await describe(db, now, page.rows), next_page: page.next_page };
}

export async function getNode(db: Db, now: Date, nodeId: string): Promise<Node> {
  const rows = await db.selectFrom('nodes').selectAll().where('id', '=', nodeId).execute();
  const [node] = await describe(db, now, rows);
  if (!node) throw notFound();
  return node;
}

type NodeRow = Awaited<ReturnType<typeof selectNodes>>[number];
const selectNodes = (db: Db) => db.selectFrom('nodes').selectAll().execute();

async function describe(db: Db, now: Date, rows: NodeRow[]): Promise<Node[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const counts = await slotCounts(db, ids);
  const exclusive = await exclusivelyClaimed(db, ids);
  return rows.map((row) => {
    const slots = counts.get(row.id) ?? emptyCounts();
    const connected = isConnected(row.last_heartbeat_at, now);
    const { posture, reason } = postureOf({
      connected,
      draining: row.draining,
      exclusivelyClaimed: exclusive.has(row.id),
      slots,
    });
    return {
      id: row.id,
      hostname: row.hostname,
      region: row.region,
      pool: row.pool,
      rack: row.rack,
      node_family: row.node_family,
      mode: row.mode as Node['mode'],
      posture,
      posture_reason: reason,
      slot_counts: slots,
      connection: connected ? 'connected' : row.last_heartbeat_at ? 'unreachable' : 'never_seen',
      agent_version: row.agent_version,
      boot_id: row.boot_id,
      enrolled_at: row.enrolled_at.toISOString(),
      last_heartbeat_at: row.last_heartbeat_at?.toISOString() ?? null,
    };
  });
}

async function slotCounts(db: Db, nodeIds: string[]): Promise<Map<string, SlotCounts>> {
  const rows = await db
    .selectFrom('node_resource_slots')
    .select((e) => ['node_id', 'state', e.fn.countAll<bigint>().as('count')])
    .where('node_id', 'in', nodeIds)
    .groupBy(['node_id', 'state'])
    .execute();
  const counts = new Map<string, SlotCounts>();
  for (const row of rows) {
    const entry = counts.get(row.node_id) ?? emptyCounts();
    entry[row.state as SlotState] = Number(row.count);
    counts.set(row.node_id, entry);
  }
  return counts;
}

async function exclusivelyClaimed(db: Db, nodeIds: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('allocation_resource_claims')
    .select('node_id')
    .where('node_id', 'in', nodeIds)
    .where('claim_kind', '=', 'node_exclusive')
    .where('released_at', 'is', null)
    .execute();
  return new Set(rows.map((row) => row.node_id));
}
