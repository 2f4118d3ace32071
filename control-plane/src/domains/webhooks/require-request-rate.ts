import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import type { WebhookRow } from './find-webhook.ts';
import { one } from '../../platform/db/one.ts';

const MINUTE_SECONDS = 60;

/** Refuses a test or a replay when the tenant has requested too many in the last minute, over all its webhooks. */
export async function requireRequestRate(
  { policies }: Pick<Services, 'policies'>,
  tx: Tx,
  { organization_id: organizationId }: WebhookRow,
): Promise<void> {
  // Requests of one tenant are counted serially, so that each counts the others.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhook requests ${organizationId}`}, 0))`.execute(
    tx,
  );
  const row = await one(
    sql<{ count: bigint; oldest_seconds: number | null }>`
    select count(*) as count, extract(epoch from now() - min(d.created_at))::float8 as oldest_seconds
    from webhook_deliveries d
    where d.webhook_id in (select id from webhooks where organization_id = ${organizationId})
      and d.created_at > now() - make_interval(secs => ${MINUTE_SECONDS})
      and (d.replay_of is not null or d.event_type = 'webhook.test')`,
    tx,
  );
  const { count, oldest_seconds: age } = row;
  const limit = policies.get('webhooks.requests_per_minute', { organizationId });
  if (count < BigInt(limit)) return;
  throw new Problem('rate_limited', `A tenant can request ${limit} test events and replays per minute.`, {
    retryAfterSeconds: Math.max(1, Math.ceil(MINUTE_SECONDS - (age ?? 0))),
  });
}
