import { hashSecret, newSecret, secretPrefix } from '../../../platform/auth/secrets.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { ServiceAccountRow } from './find-service-account.ts';
import { findIssuer } from './find-issuer.ts';

/** A new token, valid as long as the policy says and no longer than the account may renew itself. */
export async function issueToken(
  services: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  caller: Caller,
  account: ServiceAccountRow,
): Promise<string> {
  const { policies, clock } = services;
  const scope = { organizationId: account.organization_id, projectId: account.project_id };
  const { endsAt, ...issuer } = await findIssuer(services, tx, caller, scope);
  const ttl = policies.get('auth.service_account_token_ttl_seconds', scope);
  const token = newSecret('service_account_token');
  await tx
    .insertInto('service_account_tokens')
    .values({
      id: newId(),
      organization_id: account.organization_id,
      service_account_id: account.id,
      prefix: secretPrefix(token),
      secret_hash: hashSecret(token),
      expires_at: new Date(Math.min(clock.now().getTime() + ttl * 1000, endsAt.getTime())),
      ...issuer,
    })
    .execute();
  return token;
}
