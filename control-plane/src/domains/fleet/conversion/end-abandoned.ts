import { sql } from 'kysely';
import type { Services } from '../../../platform/services.ts';
import { underWay } from '../../../platform/workflows/under-way.ts';
import { withdrawTasks } from '../withdraw-tasks.ts';
import { conversionWorkflowId } from './convert-node.workflow.ts';
import { endConversion } from './end-conversion.ts';

const AT_ONCE = 20;
const SETTLED = '60 seconds';

/**
 * A conversion whose workflow gave up or is gone would run for ever, and its host would stay between two modes with
 * nobody told. It fails: the host stays cordoned, with an incident, until it is converted again.
 */
export async function endAbandonedConversions(services: Services): Promise<number> {
  const { rows } = await sql<{ id: string; node_id: string }>`
    select id, node_id from node_conversions
    where state = 'running' and requested_at < ${services.clock.now()}::timestamptz - ${SETTLED}::interval
      and not ${underWay(sql`'convert:' || id`)}
    order by id limit ${AT_ONCE}`.execute(services.db);
  for (const { id, node_id } of rows) {
    // Taken up late, one would bind the host against its records.
    const tasks = { workflowId: conversionWorkflowId(id) };
    await services.db
      .transaction()
      .execute((tx) => withdrawTasks(services, tx, tasks, 'The conversion that gave the task was given up.'));
    await endConversion(
      services,
      { conversionId: id, nodeId: node_id, correlationId: id },
      { trouble: 'The platform lost track of the conversion.', undone: false },
    );
  }
  return rows.length;
}
