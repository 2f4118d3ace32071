import type { Policies } from '../policy/policies.ts';
import type { Db, Tx } from '../db/database.ts';
import { hashSecret, randomSecret } from './secrets.ts';
import { systemClock } from '../clock.ts';

export const SESSION_COOKIE = 'gpuaas_session';

export async function createSession(
  policies: Policies,
  tx: Tx,
  userId: string,
): Promise<{ secret: string; expiresAt: Date }> {
  const secret = randomSecret();
  const expiresAt = new Date(systemClock.now().getTime() + policies.get('auth.session_ttl_seconds') * 1000);
  await tx
    .insertInto('sessions')
    .values({
      id_hash: hashSecret(secret),
      user_id: userId,
      csrf_token: randomSecret(),
      expires_at: expiresAt,
    })
    .execute();
  return { secret, expiresAt };
}

export async function endSession(db: Db | Tx, idHash: Buffer): Promise<void> {
  await db.deleteFrom('sessions').where('id_hash', '=', idHash).execute();
}
