import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { latestSucceededTask } from '../../tasks/latest-succeeded.ts';
import { requireNode } from '../nodes/require-node.ts';
import { BOUND_FIELDS, topologyDrift, type ApprovedSlot } from './topology-drift.ts';

type TopologyDrift = components['schemas']['TopologyDrift'];

/** The approved slots of a host against its latest discovery. */
export async function findDrift(db: Db | Tx, nodeId: string): Promise<TopologyDrift> {
  await requireNode(db, nodeId);
  const latest = await latestSucceededTask(db, nodeId, 'slice.topology_discover');
  if (!latest) return { discovery_task_id: null, discovered_at: null, items: [] };
  return {
    discovery_task_id: latest.task.id,
    discovered_at: latest.task.finished_at?.toISOString() ?? null,
    items: topologyDrift(await approvedSlots(db, nodeId), latest.output).slice(0, 200),
  };
}

/** Whether the row is a GPU of a whole-node offer. */
export const selectWholeNodeUnit =
  sql<boolean>`coalesce(capacity_metadata ->> 'fabric_claim_mode' = 'whole_node', false)`.as(
    'isWholeNodeUnit',
  );

/** Slots that are meant to be leased; slots that an operator disabled cannot drift. */
export async function approvedSlots(db: Db | Tx, nodeId: string): Promise<ApprovedSlot[]> {
  return await db
    .selectFrom('node_resource_slots')
    .select(['id', 'gpu_pci_address', ...BOUND_FIELDS, selectWholeNodeUnit])
    .where('node_id', '=', nodeId)
    .where('desired_state', '=', 'for_sale')
    .orderBy('slot_index')
    .execute();
}
