import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { rejectDuplicateName } from '../reject-duplicate-name.ts';
import type { ServiceAccountRow } from './find-service-account.ts';

/**
 * Renames an account, or gives it to another active member, also one that passed to the project. Its leases
 * count for the owner's quotas, so only that member or an admin of quotas may do it.
 */
export async function updateServiceAccount(
  tx: Tx,
  caller: Caller,
  account: ServiceAccountRow,
  body: components['schemas']['UpdateServiceAccount'],
): Promise<ServiceAccountRow> {
  const { organization_id: organizationId } = account;
  if (body.owner_user_id !== undefined) {
    if (body.owner_user_id !== caller.ownerUserId && body.owner_user_id !== account.owner_user_id)
      authorize(caller, 'quota.manage', { kind: 'tenant', organizationId });
    await requireMember(tx, organizationId, body.owner_user_id);
  }
  const change = {
    name: body.name ?? account.name,
    description: body.description ?? account.description,
    owner_user_id: body.owner_user_id ?? account.owner_user_id,
  };
  await rejectDuplicateName(change.name, () =>
    tx.updateTable('service_accounts').set(change).where('id', '=', account.id).execute(),
  );
  return { ...account, ...change };
}

async function requireMember(tx: Tx, organizationId: string, userId: string): Promise<void> {
  const member = await tx
    .selectFrom('organization_members')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .where('state', '=', 'active')
    .executeTakeFirst();
  if (member) return;
  throw new Problem('member_unknown', 'The owner must be an active member of the organization.', {
    errors: [{ pointer: '/owner_user_id', detail: 'is not an active member' }],
  });
}
