import { hashSecret, newSecret, secretPrefix } from '../../../platform/auth/secrets.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { ServiceAccountRow } from './find-service-account.ts';

/** A new token, which lives as long as policy says. */
export async function issueToken(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  account: ServiceAccountRow,
): Promise<string> {
  const scope = { organizationId: account.organization_id, projectId: account.project_id };
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
      expires_at: new Date(clock.now().getTime() + ttl * 1000),
    })
    .execute();
  return token;
}
