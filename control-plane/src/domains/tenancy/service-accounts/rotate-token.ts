import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { requireAccountPermissions, type ServiceAccountRow } from './find-service-account.ts';
import { issueToken } from './issue-token.ts';

/** A new token; earlier tokens stay valid for the overlap unless they expire first. The account must be locked. */
export async function rotateToken(
  services: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  caller: Caller,
  account: ServiceAccountRow,
): Promise<string> {
  if (account.state !== 'active') {
    throw new Problem('service_account_disabled', 'Enable it before you rotate its token.');
  }
  await requireAccountPermissions(tx, caller, account);
  const scope = { organizationId: account.organization_id, projectId: account.project_id };
  const overlap = services.policies.get('auth.service_account_token_overlap_seconds', scope);
  const end = new Date(services.clock.now().getTime() + overlap * 1000);
  await tx
    .updateTable('service_account_tokens')
    .set({ expires_at: end })
    .where('service_account_id', '=', account.id)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', end)
    .execute();
  return await issueToken(services, tx, caller, account);
}
