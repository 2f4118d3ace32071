import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import { one } from '../../../platform/db/one.ts';

/** The unit of the policy. */
const MINUTE_MS = 60_000;

/** Counts a producer's records per minute over all replicas, and refuses those above the limit. */
export async function enforceRecordRate(
  policies: Policies,
  tx: Tx,
  producer: string,
  count: number,
  now: Date,
): Promise<void> {
  const minute = new Date(Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS);
  const row = await one(
    sql<{ records: bigint }>`
    insert into app_usage_producers as p (producer, minute, records) values (${producer}, ${minute}, ${count})
    on conflict (producer) do update set minute = excluded.minute,
      records = case when p.minute = excluded.minute then p.records + excluded.records else excluded.records end
    returning records`,
    tx,
  );
  const limit = policies.get('app_usage.records_per_minute');
  if (row.records <= BigInt(limit)) return;
  const retryAfterSeconds = Math.max(1, Math.ceil((minute.getTime() + MINUTE_MS - now.getTime()) / 1000));
  throw new Problem('rate_limited', `A producer may report ${limit} records per minute.`, {
    retryAfterSeconds,
  });
}
