import { hashSecret, kindOfSecret } from '../../../platform/auth/secrets.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { INVITATION_COLUMNS, type InvitationRow } from './describe-invitation.ts';

/**
 * An open invitation for the person it was sent to. Runs as gpuaas_auth: the person does not belong to the
 * tenant yet. An address counts if the platform's provider verified it, or if it is in the verified domain of
 * a tenant's own provider.
 */
export async function findInvitationByToken(
  tx: Tx,
  userId: string,
  token: string,
  now: Date,
): Promise<InvitationRow> {
  if (kindOfSecret(token) !== 'invitation') throw notUsable();
  const row = await tx
    .selectFrom('invitations')
    .select(INVITATION_COLUMNS)
    .where('token_hash', '=', hashSecret(token))
    .executeTakeFirst();
  if (!row) throw notUsable();
  const person = await tx
    .selectFrom('users')
    .select(['email', 'email_verified', 'home_organization_id'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  if (row.email.toLowerCase() !== person.email.toLowerCase())
    throw new Problem('invitation_email_mismatch', 'Sign in with the address that was invited.');
  if (!person.email_verified && person.home_organization_id === null)
    throw new Problem(
      'email_not_verified',
      'Verify your address at the identity provider, then sign in with a browser again.',
    );
  if (row.accepted_at || row.revoked_at || row.expires_at <= now) throw notUsable();
  return row;
}

export function notUsable(): Problem {
  return new Problem('invitation_not_usable', 'Ask for a new invitation.');
}
