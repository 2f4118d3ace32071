import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Nodes } from '../../platform/db/generated/schema.ts';
import { platformResourceName } from '../../platform/ids.ts';
import { nodeOverviews } from '../read-models/find-overviews.ts';
import { findPostures } from './find-postures.ts';
import { fourStatesOfNode } from './node-four-states.ts';
import { openTasksOn } from './open-tasks.ts';
import { connectionOf, type Observer } from './reachability.ts';
import type { Observed } from './record-heartbeat.ts';

export type Node = components['schemas']['Node'];

/** Hosts as operators see them: what is stored, what the host reported, and the posture that follows. */
export async function describeNodes(
  observer: Observer,
  db: Db | Tx,
  rows: Selectable<Nodes>[],
): Promise<Node[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const postures = await findPostures(db, rows, (row) => connectionOf(observer, row.last_heartbeat_at));
  const openTasks = await openTasksOn(db, ids);
  const overviews = await nodeOverviews(db, ids);
  return rows.map((row) => {
    const { posture, reason, slots, cordons, connection } = postures.get(row.id)!;
    return {
      id: row.id,
      resource_name: platformResourceName(row.region, 'node', row.id),
      hostname: row.hostname,
      region: row.region,
      pool: row.pool,
      rack: row.rack,
      node_family: row.node_family,
      mode: row.mode as Node['mode'],
      profile_tags: row.profile_tags,
      posture,
      posture_reason: reason.slice(0, 300),
      slot_counts: slots,
      draining: row.draining,
      drain_reason: row.drain_reason,
      cordons,
      states: fourStatesOfNode({
        draining: row.draining,
        connection,
        cordons,
        observed: row.observed as Observed,
        openTasks: openTasks.get(row.id) ?? [],
        projected: overviews.get(row.id) ?? null,
      }),
      connection,
      agent_version: row.agent_version,
      boot_id: row.boot_id,
      enrolled_at: row.enrolled_at.toISOString(),
      last_heartbeat_at: row.last_heartbeat_at?.toISOString() ?? null,
      clock_offset_ms: (row.observed as Observed).clock_offset_ms ?? null,
    };
  });
}
