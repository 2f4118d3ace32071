import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { liveResources, type ResourceOwner } from '../owned-resources.ts';
import { countTokensOfPerson } from '../service-accounts/revoke-tokens-of-person.ts';
import type { MemberRow } from './find-member.ts';

const LISTED = 1000;

/**
 * Resources that would pass to projects, and the number of keys and tokens that would end, if the member left
 * now.
 */
export async function previewHandover(
  tx: Tx,
  owners: readonly ResourceOwner[],
  member: MemberRow,
): Promise<components['schemas']['HandoverPreview']> {
  const by = { organizationId: member.organization_id, userId: member.user_id };
  const resources = await liveResources(tx, owners, by, LISTED + 1);
  const { count } = await tx
    .selectFrom('api_keys')
    .select((e) => e.fn.countAll<bigint>().as('count'))
    .where('user_id', '=', member.user_id)
    .where('organization_id', '=', member.organization_id)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return {
    member_id: member.id,
    api_keys: Number(count),
    service_account_tokens: await countTokensOfPerson(tx, member),
    resources: resources.slice(0, LISTED),
    truncated: resources.length > LISTED,
  };
}
