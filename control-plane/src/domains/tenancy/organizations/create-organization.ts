import { isDatabaseError, type Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';

const CHECK_VIOLATION = '23514';

export const DEFAULT_PROJECT = 'default';

/** A tenant with its default team and project, and its first member as admin. */
export async function createOrganization(
  tx: Tx,
  { name, ownerId }: { name: string; ownerId: string },
): Promise<{ organizationId: string; projectId: string }> {
  const organizationId = newId();
  const projectId = newId();
  await tx.insertInto('organizations').values({ id: organizationId, name, created_by: ownerId }).execute();
  await createDefaults(tx, { organizationId, projectId, name });
  await addMember(tx, organizationId, ownerId);
  await tx
    .insertInto('permission_bindings')
    .values({
      id: newId(),
      user_id: ownerId,
      permission_group: 'tenant_admin',
      scope: 'tenant',
      organization_id: organizationId,
    })
    .execute();
  return { organizationId, projectId };
}

/** The default team of a new organization, by the same name, and its default project. */
export async function createDefaults(
  tx: Tx,
  { organizationId, projectId, name }: { organizationId: string; projectId: string; name: string },
): Promise<void> {
  const teamId = newId();
  await tx
    .insertInto('teams')
    .values({ id: teamId, organization_id: organizationId, name, is_default: true })
    .execute();
  await tx
    .insertInto('projects')
    .values({ id: projectId, organization_id: organizationId, team_id: teamId, name: DEFAULT_PROJECT })
    .execute();
}

/** True if the person was not a member before. */
export async function addMember(tx: Tx, organizationId: string, userId: string): Promise<boolean> {
  try {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('organization_members')
      .values({ id: newId(), organization_id: organizationId, user_id: userId })
      .onConflict((c) => c.columns(['organization_id', 'user_id']).doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  } catch (error) {
    // Error of the trigger that keeps people of a tenant's own provider in that tenant.
    if (!isDatabaseError(error, CHECK_VIOLATION)) throw error;
    throw new Problem('member_elsewhere', 'Your identity provider is valid in its own organization only.');
  }
}
