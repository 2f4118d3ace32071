import type { AtClosing } from '../../tenancy/owned-resources.ts';

/** Nobody charges the card of a tenant that is closed. */
export const endAutoTopUp: AtClosing = async (tx, { organizationId, projectId }) => {
  if (projectId !== undefined) return;
  await tx
    .updateTable('auto_top_ups')
    .set({ enabled: false })
    .where('organization_id', '=', organizationId)
    .execute();
};
