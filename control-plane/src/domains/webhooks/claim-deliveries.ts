import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';

/** Longer than an attempt can take; after a crash the delivery is due again when the lease expires. */
const LEASE_SECONDS = 30;
/** A slow endpoint delays only itself. */
const IN_FLIGHT_PER_WEBHOOK = 4;

export interface ClaimedDelivery {
  id: string;
  webhook_id: string;
  organization_id: string;
  event_id: string;
  body: string;
  /** Fences the outcome: a later claim has a higher number. */
  attempt: number;
  url: string;
  sealed_secret: Buffer;
  sealed_previous_secret: Buffer | null;
  previous_secret_expires_at: Date | null;
}

/**
 * Leases due deliveries, a few per webhook and per tenant; other processes skip them. Tenants take turns: the
 * one with the fewest running deliveries comes first, and within a tenant the oldest delivery.
 */
export async function claimDeliveries(
  db: Db,
  { limit, perTenant }: { limit: number; perTenant: number },
): Promise<ClaimedDelivery[]> {
  const { rows } = await sql<ClaimedDelivery>`
    with hooks as (
      select w.id, w.organization_id, running.count, sum(running.count) over (partition by w.organization_id) as under_way
      from webhooks w cross join lateral (
        select count(*) as count from webhook_deliveries d
        where d.webhook_id = w.id and d.state = 'pending' and d.leased_until > '-infinity' and d.leased_until > now()
      ) as running
      where w.state = 'enabled'
    ), waiting as (
      select next.id, next.next_attempt_at, h.organization_id, h.under_way from hooks h
      cross join lateral (
        select d.id, d.next_attempt_at from webhook_deliveries d
        where d.webhook_id = h.id and d.state = 'pending' and d.next_attempt_at <= now() and d.leased_until < now()
        order by d.next_attempt_at
        limit greatest(0, least(${IN_FLIGHT_PER_WEBHOOK} - h.count, ${perTenant} - h.under_way))
        for update skip locked
      ) as next
    ), turns as (
      select id, next_attempt_at,
        under_way + row_number() over (partition by organization_id order by next_attempt_at, id) as turn
      from waiting
    ), due as (
      select id from turns where turn <= ${perTenant} order by turn, next_attempt_at limit ${limit}
    )
    update webhook_deliveries d
    set attempts = d.attempts + 1, leased_until = now() + make_interval(secs => ${LEASE_SECONDS})
    from due, webhooks w
    where d.id = due.id and w.id = d.webhook_id
    returning d.id, d.webhook_id, w.organization_id, d.event_id, d.body, d.attempts as attempt,
      w.url, w.sealed_secret, w.sealed_previous_secret, w.previous_secret_expires_at`.execute(db);
  return rows;
}
