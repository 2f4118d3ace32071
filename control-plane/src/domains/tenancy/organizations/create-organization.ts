import { isDatabaseError, type Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';

const CHECK_VIOLATION = '23514';

export const DEFAULT_PROJECT = 'default';

/** A tenant with its default project and its first member, who is its admin. */
export async function createOrganization(
  tx: Tx,
  { name, ownerId }: { name: string; ownerId: string },
): Promise<{ organizationId: string; projectId: string }> {
  const organizationId = newId();
  const projectId = newId();
  await tx.insertInto('organizations').values({ id: organizationId, name }).execute();
  await tx
    .insertInto('projects')
    .values({ id: projectId, organization_id: organizationId, name: DEFAULT_PROJECT })
    .execute();
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

/** True when the person was no member before. */
export async function addMember(tx: Tx, organizationId: string, userId: string): Promise<boolean> {
  try {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('organization_members')
      .values({ id: newId(), organization_id: organizationId, user_id: userId })
      .onConflict((c) => c.columns(['organization_id', 'user_id']).doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  } catch (error) {
    // The trigger that keeps people of a tenant's own provider at home.
    if (!isDatabaseError(error, CHECK_VIOLATION)) throw error;
    throw new Problem(
      'member_elsewhere',
      'Your identity provider vouches for you in its organization alone.',
    );
  }
}
