import { sql } from 'kysely';
import type { Services } from '../../../platform/services.ts';
import { underWay } from '../../../platform/workflows/under-way.ts';
import { withdrawToken } from './enrolment-of.ts';
import { endOnboarding } from './end-onboarding.ts';

const AT_ONCE = 20;
const SETTLED = '60 seconds';

/** An onboarding whose workflow gave up or is gone would run for ever and keep its machine from being imported again. */
export async function endAbandonedOnboardings(services: Services): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select id from node_onboardings
    where state = 'running' and requested_at < ${services.clock.now()}::timestamptz - ${SETTLED}::interval
      and not ${underWay(sql`'onboard:' || id`)}
    order by id limit ${AT_ONCE}`.execute(services.db);
  for (const { id } of rows) {
    await withdrawToken(services, id);
    const detail = 'The platform lost track of the onboarding.';
    await endOnboarding(services, id, { state: 'failed', detail, undone: false });
  }
  return rows.length;
}
