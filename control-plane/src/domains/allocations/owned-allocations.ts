import { resourceName } from '../../platform/ids.ts';
import type { OwnedResource, ResourceOwner } from '../tenancy/owned-resources.ts';
import type { AllocationRow } from './move-allocation.ts';

const COLUMNS = ['id', 'organization_id', 'project_id', 'region', 'name'] as const;

/** States in which nothing runs and nothing is billed any more. */
const ENDED = ['released', 'failed'];

function describe(row: Pick<AllocationRow, (typeof COLUMNS)[number]>): OwnedResource {
  return {
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
  };
}

/** Allocations as belongings of projects. They stay billed to the tenant whoever owns them. */
export const ownedAllocations: ResourceOwner = {
  async live(tx, { organizationId, projectId, userId }, limit) {
    const rows = await tx
      .selectFrom('allocations')
      .select(COLUMNS)
      .where('organization_id', '=', organizationId)
      .where('state', 'not in', ENDED)
      .$if(projectId !== undefined, (q) => q.where('project_id', '=', projectId!))
      .$if(userId !== undefined, (q) => q.where('owner_user_id', '=', userId!))
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(describe);
  },
  async handOver(tx, organizationId, userId) {
    const rows = await tx
      .updateTable('allocations')
      .set({ owner_user_id: null })
      .where('organization_id', '=', organizationId)
      .where('owner_user_id', '=', userId)
      .where('state', 'not in', ENDED)
      .returning(COLUMNS)
      .execute();
    return rows.map(describe);
  },
};
