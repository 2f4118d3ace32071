import { sql } from 'kysely';
import type { Services } from '../../../platform/services.ts';
import { workflowActiveSql } from '../../../platform/workflows/workflow-activity.ts';
import { revokeToken } from './onboarding-token.ts';
import { endOnboarding } from './end-onboarding.ts';

const BATCH = 20;
const SETTLED = '60 seconds';

/**
 * Ends an onboarding whose workflow gave up or disappeared; otherwise it would run indefinitely and block
 * another import of its machine.
 */
export async function endAbandonedOnboardings(services: Services): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select id from node_onboardings
    where state = 'running' and requested_at < ${services.clock.now()}::timestamptz - ${SETTLED}::interval
      and not ${workflowActiveSql(sql`'onboard:' || id`)}
    order by id limit ${BATCH}`.execute(services.db);
  for (const { id } of rows) {
    await revokeToken(services, id);
    const detail = 'The platform lost track of the onboarding.';
    await endOnboarding(services, id, { state: 'failed', detail, undone: false });
  }
  return rows.length;
}
