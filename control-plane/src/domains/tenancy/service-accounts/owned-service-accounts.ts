import type { Tx } from '../../../platform/db/database.ts';
import { projectResourceName } from '../../../platform/ids.ts';
import type { OwnedResource, ResourceOwner } from '../owned-resources.ts';

const COLUMNS = ['id', 'organization_id', 'project_id', 'name'] as const;

function describe(row: {
  id: string;
  organization_id: string;
  project_id: string;
  name: string;
}): OwnedResource {
  return {
    resource_type: 'service_account',
    resource_id: row.id,
    resource_name: projectResourceName(row.organization_id, row.project_id, 'service_account', row.id),
    project_id: row.project_id,
    name: row.name,
  };
}

export const ownedServiceAccounts: ResourceOwner = {
  async live(tx: Tx, { organizationId, projectId, userId }, limit) {
    const rows = await tx
      .selectFrom('service_accounts')
      .select(COLUMNS)
      .where('organization_id', '=', organizationId)
      .$if(projectId !== undefined, (q) => q.where('project_id', '=', projectId!))
      .$if(userId !== undefined, (q) => q.where('owner_user_id', '=', userId!))
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(describe);
  },
  async handOver(tx, organizationId, userId) {
    const rows = await tx
      .updateTable('service_accounts')
      .set({ owner_user_id: null })
      .where('organization_id', '=', organizationId)
      .where('owner_user_id', '=', userId)
      .returning(COLUMNS)
      .execute();
    return rows.map(describe);
  },
};
