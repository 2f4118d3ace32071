import type { Clock } from '../clock.ts';
import type { Tx } from '../db/database.ts';
import { newId } from '../ids.ts';
import type { Sealer } from '../keys/seal.ts';
import type { Policies } from '../policy/policies.ts';
import { hashSecret, randomSecret } from './secrets.ts';

/** Where a browser says it comes from; shown to the owner of the session and trusted for nothing. */
export interface BrowserDetails {
  userAgent: string;
  ip: string;
}

export interface NewSession extends BrowserDetails {
  userId: string;
  issuer?: string;
  idToken?: string;
}

/** Ties a sealed ID token to its session. */
function idTokenContext(sessionId: string): string {
  return `session:${sessionId}`;
}

export function detailsOf(request: {
  ip: string;
  headers: { 'user-agent'?: string | undefined };
}): BrowserDetails {
  return { ip: request.ip.slice(0, 45), userAgent: (request.headers['user-agent'] ?? '').slice(0, 300) };
}

/** Always a new secret, so that one somebody planted in the browser before is worth nothing after. */
export async function createSession(
  tx: Tx,
  { policies, sealer, clock }: { policies: Policies; sealer: Sealer; clock: Clock },
  { userId, userAgent, ip, issuer, idToken }: NewSession,
): Promise<{ id: string; secret: string; expiresAt: Date }> {
  const id = newId();
  const secret = randomSecret();
  const lifetime = policies.get('auth.session_absolute_seconds') * 1000;
  const expiresAt = new Date(clock.now().getTime() + lifetime);
  await tx
    .insertInto('sessions')
    .values({
      id,
      id_hash: hashSecret(secret),
      user_id: userId,
      csrf_token: randomSecret(),
      expires_at: expiresAt,
      user_agent: userAgent,
      ip,
      issuer: issuer ?? null,
      sealed_id_token: idToken ? sealer.seal(idToken, idTokenContext(id)) : null,
    })
    .execute();
  return { id, secret, expiresAt };
}

export interface EndedSession {
  id: string;
  issuer: string | null;
  /** What the provider wants to see when somebody signs out there. */
  idToken: string | null;
}

export async function endSession(tx: Tx, sealer: Sealer, idHash: Buffer): Promise<EndedSession | null> {
  const row = await tx
    .deleteFrom('sessions')
    .where('id_hash', '=', idHash)
    .returning(['id', 'issuer', 'sealed_id_token'])
    .executeTakeFirst();
  if (!row) return null;
  const idToken = row.sealed_id_token && sealer.open(row.sealed_id_token, idTokenContext(row.id));
  return { id: row.id, issuer: row.issuer, idToken };
}

/** Ends every session of the people. */
export async function endSessionsOf(tx: Tx, userIds: readonly string[]): Promise<void> {
  if (userIds.length > 0) await tx.deleteFrom('sessions').where('user_id', 'in', userIds).execute();
}
