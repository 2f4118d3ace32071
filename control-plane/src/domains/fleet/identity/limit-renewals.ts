import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { one } from '../../../platform/db/one.ts';

const RETRY_SECONDS = 300;

/** A host renews a few times a day; one that asks again and again is broken, or somebody else has its key. */
export async function limitRenewals(
  { policies }: Pick<Services, 'policies'>,
  tx: Tx,
  nodeId: string,
): Promise<void> {
  // Those of one host follow each other, so that many at a time cannot pass together.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`renew ${nodeId}`}, 0))`.execute(tx);
  const row = await one(
    sql<{ count: number }>`select count(*)::int as count from node_certificates
    where node_id = ${nodeId} and issued_at > now() - interval '1 hour'`,
    tx,
  );
  const perHour = policies.get('fleet.certificate_renewals_per_hour');
  if (row.count < perHour) return;
  throw new Problem('rate_limited', `A host may renew its certificate ${perHour} times an hour.`, {
    retryAfterSeconds: RETRY_SECONDS,
  });
}
