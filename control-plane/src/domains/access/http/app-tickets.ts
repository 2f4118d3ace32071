import { createHash } from 'node:crypto';
import { parseCredential, serializeCredential } from '../../../platform/auth/serialize-credential.ts';
import { hashSecret, randomSecret } from '../../../platform/auth/secrets.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { AppSignIn } from './app-cookies.ts';
import type { App } from './app.ts';

const TICKET_SECONDS = 30;

/** What the console learns of the nonce: enough to tie a ticket to it, useless as the cookie. */
export function attemptOf(nonce: string): string {
  return createHash('sha256').update(nonce).digest('base64url');
}

/** A ticket signs one browser in to one app, once. Only its hash is stored. */
export async function mintAppTicket(
  db: Db,
  clock: Clock,
  app: App,
  { actorId, credential }: AppSignIn,
  attempt: string,
): Promise<string> {
  const ticket = randomSecret();
  await db
    .insertInto('app_tickets')
    .values({
      ticket_hash: hashSecret(ticket),
      organization_id: app.organizationId,
      label: app.label,
      user_id: actorId,
      credential: serializeCredential(credential),
      attempt,
      expires_at: new Date(clock.now().getTime() + TICKET_SECONDS * 1000),
    })
    .execute();
  return ticket;
}

/** Deleting is consuming. A ticket shown in the wrong place is used up, too. */
export async function consumeAppTicket(
  db: Db,
  clock: Clock,
  ticket: string,
  shown: { label: string; nonce: string | null },
): Promise<AppSignIn | null> {
  const row = await db
    .deleteFrom('app_tickets')
    .where('ticket_hash', '=', hashSecret(ticket))
    .returningAll()
    .executeTakeFirst();
  if (!row || row.expires_at <= clock.now() || row.label !== shown.label) return null;
  if (shown.nonce === null || attemptOf(shown.nonce) !== row.attempt) return null;
  return { actorId: row.user_id, credential: parseCredential(row.credential) };
}
