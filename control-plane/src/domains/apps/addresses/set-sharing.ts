import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { findAddressed } from './describe-address.ts';

type Sharing = components['schemas']['AppSharing'];

/** Only its owner opens an app further: a colleague could otherwise let themselves in. */
export async function setSharing(
  tx: Tx,
  caller: Caller,
  instanceId: string,
  sharing: Sharing,
): Promise<{ before: Sharing; address: Awaited<ReturnType<typeof findAddressed>> }> {
  const address = await findAddressed(tx, caller, 'app_instance.share', instanceId);
  if (address.created_by !== caller.id)
    throw new Problem('app_of_another_person', 'Only who started the app decides who may open it.');
  await tx.updateTable('app_addresses').set({ sharing }).where('label', '=', address.label).execute();
  return { before: address.sharing === 'project' ? 'project' : 'owner', address: { ...address, sharing } };
}
