import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { refusingTakenName } from '../name-taken.ts';
import type { ServiceAccountRow } from './find-service-account.ts';

/** Renames it, or gives it to another active member; that is how one that passed to the project gets an owner again. */
export async function updateServiceAccount(
  tx: Tx,
  account: ServiceAccountRow,
  body: components['schemas']['UpdateServiceAccount'],
): Promise<ServiceAccountRow> {
  if (body.owner_user_id !== undefined) await requireMember(tx, account.organization_id, body.owner_user_id);
  const change = {
    name: body.name ?? account.name,
    description: body.description ?? account.description,
    owner_user_id: body.owner_user_id ?? account.owner_user_id,
  };
  await refusingTakenName(change.name, () =>
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
    errors: [{ pointer: '/owner_user_id', detail: 'is no active member' }],
  });
}
