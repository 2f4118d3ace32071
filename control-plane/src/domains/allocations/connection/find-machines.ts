import type { Db } from '../../../platform/db/database.ts';

/** The machine of an allocation, as a visitor needs it. */
export interface Machine {
  organizationId: string;
  projectId: string;
  /** Empty before the allocation has a host; the machine is not active then. */
  nodeId: string;
  connection: { username: string; host_key_fingerprint: string };
  /** The allocation is active and its release was not requested. */
  active: boolean;
}

/** The machines of these allocations as they are now, by allocation. */
export async function findMachines(db: Db, allocationIds: readonly string[]): Promise<Map<string, Machine>> {
  const rows = await db
    .selectFrom('allocations')
    .select(['id', 'node_id', 'organization_id', 'project_id', 'connection', 'state', 'desired_state'])
    .where('id', 'in', allocationIds)
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      {
        organizationId: row.organization_id,
        projectId: row.project_id,
        nodeId: row.node_id ?? '',
        connection: row.connection as Machine['connection'],
        active: row.state === 'active' && row.desired_state === 'active' && row.node_id !== null,
      },
    ]),
  );
}
