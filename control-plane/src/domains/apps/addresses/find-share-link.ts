import { sql } from 'kysely';
import { hashSecret, kindOfSecret } from '../../../platform/auth/secrets.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { App } from '../../access/http/app.ts';

/** The link with this secret, if it leads to the app and has not expired. */
export async function findShareLink(
  db: Db,
  { instanceId }: App,
  secret: string,
): Promise<{ id: string; expiresAt: Date } | null> {
  if (kindOfSecret(secret) !== 'share_link') return null;
  const row = await db
    .selectFrom('app_share_links')
    .select(['id', 'expires_at'])
    .where('secret_hash', '=', hashSecret(secret))
    .where('app_instance_id', '=', instanceId)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst();
  return row ? { id: row.id, expiresAt: row.expires_at } : null;
}
