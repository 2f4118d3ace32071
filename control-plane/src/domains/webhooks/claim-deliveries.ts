import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';

/** Longer than an attempt can take; after a crash the delivery is due again when it ends. */
const LEASE_SECONDS = 30;
/** A slow endpoint holds up itself, not the others. */
const AT_ONCE_PER_WEBHOOK = 4;

export interface ClaimedDelivery {
  id: string;
  webhook_id: string;
  organization_id: string;
  event_id: string;
  body: string;
  /** Fences the outcome: a later claim has a higher one. */
  attempt: number;
  url: string;
  sealed_secret: Buffer;
  sealed_previous_secret: Buffer | null;
  previous_secret_expires_at: Date | null;
}

/** Leases deliveries that are due, oldest first, a few per webhook; other processes skip them. */
export async function claimDeliveries(db: Db, limit: number): Promise<ClaimedDelivery[]> {
  const { rows } = await sql<ClaimedDelivery>`
    with due as (
      select waiting.id from webhooks w
      cross join lateral (
        select count(*) as count from webhook_deliveries d
        where d.webhook_id = w.id and d.state = 'pending' and d.leased_until > '-infinity' and d.leased_until > now()
      ) as running
      cross join lateral (
        select d.id, d.next_attempt_at from webhook_deliveries d
        where d.webhook_id = w.id and d.state = 'pending' and d.next_attempt_at <= now() and d.leased_until < now()
        order by d.next_attempt_at limit greatest(0, ${AT_ONCE_PER_WEBHOOK} - running.count)
        for update skip locked
      ) as waiting
      where w.state = 'enabled'
      order by waiting.next_attempt_at limit ${limit}
    )
    update webhook_deliveries d
    set attempts = d.attempts + 1, leased_until = now() + make_interval(secs => ${LEASE_SECONDS})
    from due, webhooks w
    where d.id = due.id and w.id = d.webhook_id
    returning d.id, d.webhook_id, w.organization_id, d.event_id, d.body, d.attempts as attempt,
      w.url, w.sealed_secret, w.sealed_previous_secret, w.previous_secret_expires_at`.execute(db);
  return rows;
}
