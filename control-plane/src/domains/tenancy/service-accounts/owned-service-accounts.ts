import { projectResourceName } from '../../../platform/ids.ts';
import { ownedRows } from '../owned-resources.ts';

const COLUMNS = ['id', 'organization_id', 'project_id', 'name'] as const;

export const ownedServiceAccounts = ownedRows({
  live: (tx) => tx.selectFrom('service_accounts').select(COLUMNS),
  handOver: (tx) => tx.updateTable('service_accounts').set({ owner_user_id: null }).returning(COLUMNS),
  describe: (row) => ({
    resource_type: 'service_account',
    resource_id: row.id,
    resource_name: projectResourceName(row.organization_id, row.project_id, 'service_account', row.id),
    project_id: row.project_id,
    name: row.name,
  }),
});
