import type { ClosingHook } from '../../tenancy/owned-resources.ts';

/** A closed tenant is no longer charged. */
export const endAutoTopUp: ClosingHook = async (tx, { organizationId, projectId }) => {
  if (projectId !== undefined) return;
  await tx
    .updateTable('auto_top_ups')
    .set({ enabled: false })
    .where('organization_id', '=', organizationId)
    .execute();
};
