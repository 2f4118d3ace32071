import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { moneyJson } from '../../../platform/money.ts';

type Usage = components['schemas']['AppInstanceUsage'];

/** Requests of an instance that gateways counted, and what its usage has cost so far. */
export async function sumOfInstance(tx: Tx, appInstanceId: string): Promise<Omit<Usage, 'app_instance_id'>> {
  const counted = await sql<{ requests: bigint }>`
    select coalesce(sum(requests), 0)::bigint as requests from app_request_counts
    where app_instance_id = ${appInstanceId}`.execute(tx);
  const recorded = await sql<{ requests: bigint; currency: string | null; micros: bigint }>`
    select sum(quantity)::bigint as requests, currency, sum(amount_micros)::bigint as micros from app_usage_records
    where app_instance_id = ${appInstanceId} and dimension = 'requests' group by currency order by currency`.execute(
    tx,
  );
  const sum = (rows: { requests: bigint }[]): number =>
    Number(rows.reduce((total, { requests }) => total + requests, 0n));
  return {
    requests: sum(counted.rows),
    recorded_requests: sum(recorded.rows),
    costs: recorded.rows.flatMap(({ currency, micros }) =>
      currency === null ? [] : [moneyJson({ currency, micros })],
    ),
  };
}
