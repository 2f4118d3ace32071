import type pg from 'pg';
import type { Clock } from '../clock.ts';
import type { Tx } from '../db/database.ts';
import { newId } from '../ids.ts';
import type { Sealer } from '../keys/seal.ts';
import type { Policies } from '../policy/policies.ts';
import { hashSecret, randomSecret } from './secrets.ts';

/** Client details that a browser sends; shown to the owner of the sign-in and trusted for nothing. */
export interface BrowserDetails {
  userAgent: string;
  ip: string;
}

export interface NewSignIn extends BrowserDetails {
  userId: string;
  issuer?: string;
  idToken?: string;
}

/** Ties a sealed ID token to its sign-in. */
function idTokenContext(signInId: string): string {
  return `sign_in:${signInId}`;
}

export function browserDetails(request: {
  ip: string;
  headers: { 'user-agent'?: string | undefined };
}): BrowserDetails {
  return { ip: request.ip.slice(0, 45), userAgent: (request.headers['user-agent'] ?? '').slice(0, 300) };
}

/** Always a new secret, so that one planted in the browser before the sign-in is worthless. */
export async function createSignIn(
  tx: Tx,
  { policies, sealer, clock }: { policies: Policies; sealer: Sealer; clock: Clock },
  { userId, userAgent, ip, issuer, idToken }: NewSignIn,
): Promise<{ id: string; secret: string; expiresAt: Date }> {
  const id = newId();
  const secret = randomSecret();
  const lifetime = policies.get('auth.sign_in_absolute_seconds') * 1000;
  const expiresAt = new Date(clock.now().getTime() + lifetime);
  await tx
    .insertInto('sign_ins')
    .values({
      id,
      id_hash: hashSecret(secret),
      user_id: userId,
      csrf_token: randomSecret(),
      expires_at: expiresAt,
      user_agent: userAgent,
      ip,
      issuer: issuer ?? null,
      sealed_id_token: idToken ? sealer.seal('id_token', idToken, idTokenContext(id)) : null,
    })
    .execute();
  return { id, secret, expiresAt };
}

/** Records the use of a browser sign-in and the browser's details, at most once a minute. */
export async function recordSignInUse(
  pool: pg.Pool,
  idHash: Buffer,
  { userAgent, ip }: BrowserDetails,
): Promise<void> {
  await pool.query({
    name: 'note-use-of-sign-in',
    text: `update sign_ins set last_used_at = now(), user_agent = $2, ip = $3
      where id_hash = $1 and last_used_at < now() - interval '1 minute'`,
    values: [idHash, userAgent, ip],
  });
}

export interface EndedSignIn {
  id: string;
  issuer: string | null;
  /** ID token hint that the provider needs for a sign-out. */
  idToken: string | null;
}

export async function endSignIn(tx: Tx, sealer: Sealer, idHash: Buffer): Promise<EndedSignIn | null> {
  const row = await tx
    .deleteFrom('sign_ins')
    .where('id_hash', '=', idHash)
    .returning(['id', 'issuer', 'sealed_id_token'])
    .executeTakeFirst();
  if (!row) return null;
  const idToken = row.sealed_id_token && sealer.open('id_token', row.sealed_id_token, idTokenContext(row.id));
  return { id: row.id, issuer: row.issuer, idToken };
}

/** Ends every sign-in of the people; returns their number. */
export async function endSignInsOfUsers(tx: Tx, userIds: readonly string[]): Promise<number> {
  if (userIds.length === 0) return 0;
  const ended = await tx.deleteFrom('sign_ins').where('user_id', 'in', userIds).returning('id').execute();
  return ended.length;
}
