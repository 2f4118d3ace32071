import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Policies } from '../../../platform/policy/policies.ts';

/** The unit of the policy. */
const MINUTE_MS = 60_000;

/** Counts a producer's records by the minute, over all replicas, and refuses what is too many. */
export async function admitRecords(
  policies: Policies,
  tx: Tx,
  producer: string,
  count: number,
  now: Date,
): Promise<void> {
  const minute = new Date(Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS);
  const { rows } = await sql<{ records: bigint }>`
    insert into app_usage_producers as p (producer, minute, records) values (${producer}, ${minute}, ${count})
    on conflict (producer) do update set minute = excluded.minute,
      records = case when p.minute = excluded.minute then p.records + excluded.records else excluded.records end
    returning records`.execute(tx);
  const limit = policies.get('app_usage.records_per_minute');
  if (rows[0]!.records <= BigInt(limit)) return;
  const retryAfterSeconds = Math.max(1, Math.ceil((minute.getTime() + MINUTE_MS - now.getTime()) / 1000));
  throw new Problem('rate_limited', `A producer may report ${limit} records in a minute.`, {
    retryAfterSeconds,
  });
}
