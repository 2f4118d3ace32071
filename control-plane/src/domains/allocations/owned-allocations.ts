import { resourceName } from '../../platform/ids.ts';
import { ownedRows } from '../tenancy/owned-resources.ts';

const COLUMNS = ['id', 'organization_id', 'project_id', 'region', 'name'] as const;

/** States in which nothing runs and nothing is billed. */
const ENDED = ['released', 'failed'] as const;

/** Allocations as resources of projects. The tenant stays billed for them when their owner changes. */
export const ownedAllocations = ownedRows({
  live: (tx) => tx.selectFrom('allocations').select(COLUMNS).where('state', 'not in', ENDED),
  handOver: (tx) =>
    tx
      .updateTable('allocations')
      .set({ owner_user_id: null })
      .where('state', 'not in', ENDED)
      .returning(COLUMNS),
  describe: (row) => ({
    resource_type: 'allocation',
    resource_id: row.id,
    resource_name: resourceName({
      region: row.region,
      organizationId: row.organization_id,
      projectId: row.project_id,
      resourceType: 'allocation',
      resourceId: row.id,
    }),
    project_id: row.project_id,
    name: row.name,
  }),
});
