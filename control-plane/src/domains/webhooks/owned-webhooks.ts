import { projectResourceName } from '../../platform/ids.ts';
import type { OwnedResource, ResourceOwner } from '../tenancy/owned-resources.ts';
import type { WebhookRow } from './find-webhook.ts';

const COLUMNS = ['id', 'organization_id', 'project_id', 'url', 'description'] as const;

function describe(row: Pick<WebhookRow, (typeof COLUMNS)[number]>): OwnedResource {
  return {
    resource_type: 'webhook',
    resource_id: row.id,
    resource_name: projectResourceName(row.organization_id, row.project_id, 'webhook', row.id),
    project_id: row.project_id,
    name: row.description || row.url,
  };
}

/** Webhooks as belongings of projects. */
export const ownedWebhooks: ResourceOwner = {
  async live(tx, { organizationId, projectId, userId }, limit) {
    const rows = await tx
      .selectFrom('webhooks')
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
      .updateTable('webhooks')
      .set({ owner_user_id: null })
      .where('organization_id', '=', organizationId)
      .where('owner_user_id', '=', userId)
      .returning(COLUMNS)
      .execute();
    return rows.map(describe);
  },
};
