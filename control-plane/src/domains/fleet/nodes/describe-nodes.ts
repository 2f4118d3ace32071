import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';
import type { Nodes } from '../../../platform/db/generated/schema.ts';
import { platformResourceName } from '../../../platform/ids.ts';
import type { FleetNeeds } from '../needs.ts';
import { findPostures } from '../health/find-postures.ts';
import { deriveNodeStates } from '../health/derive-node-states.ts';
import { listOpenTasks } from '../../tasks/open-tasks.ts';
import { connectionOf, type Observer } from '../health/connection.ts';
import { get } from '../../../platform/present.ts';

export type Node = components['schemas']['Node'];
export type NodeObserver = Observer & FleetNeeds;

/** Hosts as operators see them: stored values, the host's report, and the resulting posture. */
export async function describeNodes(
  observer: NodeObserver,
  db: Db | Tx,
  rows: Selectable<Nodes>[],
): Promise<Node[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const postures = await findPostures(observer, db, rows, (row) =>
    connectionOf(observer, row.last_heartbeat_at),
  );
  const openTasks = await listOpenTasks(db, ids);
  const overviews = await observer.overviews.nodeOverviews(db, ids);
  return rows.map((row) => {
    const { posture, reason, slots, cordons, connection } = get(postures, row.id, 'posture');
    return {
      id: row.id,
      resource_name: platformResourceName(row.region, 'node', row.id),
      hostname: row.hostname,
      region: row.region,
      pool: row.pool,
      rack: row.rack,
      node_family: row.node_family,
      mode: row.mode,
      profile_tags: row.profile_tags,
      posture,
      posture_reason: reason.slice(0, 300),
      slot_counts: slots,
      draining: row.draining,
      drain_reason: row.drain_reason,
      cordons,
      states: deriveNodeStates({
        draining: row.draining,
        connection,
        cordons,
        observed: row.observed,
        openTasks: openTasks.get(row.id) ?? [],
        projected: overviews.get(row.id) ?? null,
      }),
      connection,
      agent_version: row.agent_version,
      boot_id: row.boot_id,
      enrolled_at: row.enrolled_at.toISOString(),
      last_heartbeat_at: row.last_heartbeat_at?.toISOString() ?? null,
      clock_offset_ms: row.observed.clock_offset_ms ?? null,
    };
  });
}
