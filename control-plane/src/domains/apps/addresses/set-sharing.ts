import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import { SHARING_LEVELS, type Sharing } from '../../access/http/app.ts';
import { findAddressed } from './describe-address.ts';

/** Only its owner opens an app further: a colleague could otherwise let themselves in. Narrowing is open to colleagues. */
export async function setSharing(
  policies: Policies,
  tx: Tx,
  caller: Caller,
  instanceId: string,
  sharing: Sharing,
): Promise<{ before: Sharing; address: Awaited<ReturnType<typeof findAddressed>> }> {
  const address = await findAddressed(tx, caller, 'app_instance.share', instanceId);
  const { sharing: before, organization_id: organizationId } = address;
  if (SHARING_LEVELS.indexOf(sharing) > SHARING_LEVELS.indexOf(before)) requireOwner(caller, address);
  if (sharing === 'public' && !policies.get('apps.public_sharing', { organizationId }))
    throw new Problem(
      'app_sharing_not_allowed',
      'The policy apps.public_sharing does not allow public apps.',
    );
  await tx.updateTable('app_addresses').set({ sharing }).where('label', '=', address.label).execute();
  return { before, address: { ...address, sharing } };
}

export function requireOwner({ id }: Caller, { created_by }: { created_by: string }): void {
  if (created_by !== id)
    throw new Problem('app_of_another_person', 'Only who started the app lets further people open it.');
}
