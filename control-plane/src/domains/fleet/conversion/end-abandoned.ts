import { sql } from 'kysely';
import type { Services } from '../../../platform/services.ts';
import { workflowActiveSql } from '../../../platform/workflows/workflow-activity.ts';
import { cancelTasks } from '../../tasks/cancel-tasks.ts';
import { conversionWorkflowId } from './convert-node.workflow.ts';
import { endConversion } from './end-conversion.ts';

const BATCH = 20;
const SETTLED = '60 seconds';

/**
 * Fails a conversion whose workflow gave up or disappeared; otherwise it would run indefinitely, with its
 * host between two modes and no incident. The host stays cordoned, with an incident, until it is converted
 * again.
 */
export async function endAbandonedConversions(services: Services): Promise<number> {
  const { rows } = await sql<{ id: string; node_id: string }>`
    select id, node_id from node_conversions
    where state = 'running' and requested_at < ${services.clock.now()}::timestamptz - ${SETTLED}::interval
      and not ${workflowActiveSql(sql`'convert:' || id`)}
    order by id limit ${BATCH}`.execute(services.db);
  for (const { id, node_id } of rows) {
    // Claimed late, a task would bind the host against its records.
    const tasks = { workflowId: conversionWorkflowId(id) };
    await services.db
      .transaction()
      .execute((tx) => cancelTasks(services, tx, tasks, 'The conversion that gave the task was given up.'));
    await endConversion(
      services,
      { conversionId: id, nodeId: node_id, correlationId: id },
      { trouble: 'The platform lost track of the conversion.', undone: false },
    );
  }
  return rows.length;
}
