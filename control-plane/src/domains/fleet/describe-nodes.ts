import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Nodes } from '../../platform/db/generated/schema.ts';
import { exclusiveClaims } from '../allocations/allocations-on-node.ts';
import { cordonsOf } from './cordons.ts';
import { emptyCounts, postureOf, type SlotCounts, type SlotState } from './posture.ts';
import { isConnected, type Observer } from './reachability.ts';

export type Node = components['schemas']['Node'];

interface SlotFacts {
  counts: SlotCounts;
  unhealthyAvailable: number;
}

/** Hosts as operators see them: what is stored, what the host reported, and the posture that follows. */
export async function describeNodes(
  observer: Observer,
  db: Db | Tx,
  rows: Selectable<Nodes>[],
): Promise<Node[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const slots = await slotFacts(db, ids);
  const exclusive = await exclusiveClaims(db, ids);
  const cordons = await cordonsOf(db, ids);
  return rows.map((row) => {
    const { counts, unhealthyAvailable } = slots.get(row.id) ?? noSlots();
    const connected = isConnected(observer, row.last_heartbeat_at);
    const why = cordons.get(row.id) ?? [];
    const { posture, reason } = postureOf({
      mode: row.mode as Node['mode'],
      connected,
      draining: row.draining,
      cordons: why.map((cordon) => cordon.detail),
      exclusivelyClaimed: exclusive.has(row.id),
      hostCleanupBlocked: exclusive.get(row.id)?.cleanupBlocked ?? false,
      slots: counts,
      unhealthyAvailable,
    });
    return {
      id: row.id,
      hostname: row.hostname,
      region: row.region,
      pool: row.pool,
      rack: row.rack,
      node_family: row.node_family,
      mode: row.mode as Node['mode'],
      profile_tags: row.profile_tags,
      posture,
      posture_reason: reason.slice(0, 300),
      slot_counts: counts,
      draining: row.draining,
      drain_reason: row.drain_reason,
      cordons: why,
      connection: connected ? 'connected' : row.last_heartbeat_at ? 'unreachable' : 'never_seen',
      agent_version: row.agent_version,
      boot_id: row.boot_id,
      enrolled_at: row.enrolled_at.toISOString(),
      last_heartbeat_at: row.last_heartbeat_at?.toISOString() ?? null,
    };
  });
}

async function slotFacts(db: Db | Tx, nodeIds: string[]): Promise<Map<string, SlotFacts>> {
  const rows = await db
    .selectFrom('node_resource_slots')
    .select((e) => [
      'node_id',
      'state',
      e.fn.countAll<bigint>().as('count'),
      e.fn.countAll<bigint>().filterWhere('health_state', '=', 'unhealthy').as('unhealthy'),
    ])
    .where('node_id', 'in', nodeIds)
    .groupBy(['node_id', 'state'])
    .execute();
  const facts = new Map<string, SlotFacts>();
  for (const row of rows) {
    const entry = facts.get(row.node_id) ?? noSlots();
    entry.counts[row.state as SlotState] = Number(row.count);
    if (row.state === 'available') entry.unhealthyAvailable = Number(row.unhealthy);
    facts.set(row.node_id, entry);
  }
  return facts;
}

function noSlots(): SlotFacts {
  return { counts: emptyCounts(), unhealthyAvailable: 0 };
}
