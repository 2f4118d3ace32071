import type pg from 'pg';
import { CredentialRefusedError } from '../../../platform/http/admission/credential-refused.ts';
import { findCredential } from './credentials.ts';

interface FormerRow {
  id: string;
  holder: string;
  organization_id: string | null;
  revoked: boolean;
}

const STATEMENTS = {
  api_key: {
    name: 'former-api-key',
    text: `select id, user_id as holder, organization_id, revoked_at is not null as revoked
      from api_keys where secret_hash = $1`,
  },
  service_account_token: {
    name: 'former-service-account-token',
    text: `select t.id, t.service_account_id as holder, t.organization_id,
        t.revoked_at is not null or s.state <> 'active' as revoked
      from service_account_tokens t join service_accounts s on s.id = t.service_account_id
      where t.secret_hash = $1`,
  },
};

/**
 * The refusal of a formerly valid key or token, for the audit log; null for an unknown one. The caller sees
 * no difference.
 */
export async function explainRetiredCredential(
  pool: pg.Pool,
  kind: keyof typeof STATEMENTS,
  secretHash: Buffer,
  detail: string,
): Promise<CredentialRefusedError | null> {
  const row = await findCredential<FormerRow>(pool, STATEMENTS[kind], secretHash);
  if (!row) return null;
  return new CredentialRefusedError('unauthenticated', detail, {
    reason: row.revoked ? 'revoked' : 'expired',
    refused: {
      actorUserId: row.holder,
      actorKind: kind === 'api_key' ? 'user' : 'service_account',
      actorRole: 'none',
      credentialId: `${kind}:${row.id}`,
      organizationId: row.organization_id,
    },
  });
}
