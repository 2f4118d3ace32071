import { projectResourceName } from '../../platform/ids.ts';
import { ownedRows } from '../tenancy/owned-resources.ts';
import { maskedUrl } from './describe-webhook.ts';

const COLUMNS = ['id', 'organization_id', 'project_id', 'url', 'description'] as const;

/** Webhooks as belongings of projects. */
export const ownedWebhooks = ownedRows({
  live: (tx) => tx.selectFrom('webhooks').select(COLUMNS),
  handOver: (tx) => tx.updateTable('webhooks').set({ owner_user_id: null }).returning(COLUMNS),
  describe: (row) => ({
    resource_type: 'webhook',
    resource_id: row.id,
    resource_name: projectResourceName(row.organization_id, row.project_id, 'webhook', row.id),
    project_id: row.project_id,
    name: row.description || maskedUrl(row.url),
  }),
});
