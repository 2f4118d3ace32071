import { systemClock } from '../../../platform/clock.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { revokeOrphanedSignIns } from '../members/revoke-access.ts';
import { liveResources, type ClosingHook, type ResourceOwner } from '../owned-resources.ts';

const LISTED = 100;

/** Closes a tenant without live resources. Its row must be locked. */
export async function deleteOrganization(
  tx: Tx,
  owners: readonly ResourceOwner[],
  atClosing: readonly ClosingHook[],
  organizationId: string,
): Promise<void> {
  const projects = await tx
    .selectFrom('projects')
    .select('id')
    .where('organization_id', '=', organizationId)
    .forUpdate()
    .execute();
  const resources = await liveResources(tx, owners, { organizationId }, LISTED);
  if (resources.length > 0) {
    throw new Problem('organization_not_empty', 'Release or delete the resources of its projects first.', {
      extensions: { resources },
    });
  }
  for (const end of atClosing) await end(tx, { organizationId });
  const now = systemClock.now();
  await tx
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('organization_id', '=', organizationId)
    .where('revoked_at', 'is', null)
    .execute();
  await tx
    .updateTable('invitations')
    .set({ revoked_at: now })
    .where('organization_id', '=', organizationId)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .execute();
  await tx.deleteFrom('permission_bindings').where('organization_id', '=', organizationId).execute();
  const members = await tx
    .deleteFrom('organization_members')
    .where('organization_id', '=', organizationId)
    .returning('user_id')
    .execute();
  await revokeOrphanedSignIns(
    tx,
    members.map((member) => member.user_id),
  );
  await withRole(tx, 'gpuaas_auth', async () => {
    for (const { id } of projects) {
      await tx.updateTable('projects').set({ deleted_at: now }).where('id', '=', id).execute();
    }
    await tx.updateTable('organizations').set({ deleted_at: now }).where('id', '=', organizationId).execute();
  });
}
