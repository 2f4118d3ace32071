import type { IngressRule } from '@gpuaas/contracts/tasks';
import type { Db, Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { issueTask } from '../../fleet/issue-task.ts';
import type { AllocationRow } from '../move-allocation.ts';

const INGRESS_TASK = 'slice.ingress_set';

/**
 * Has the host of a locked, active allocation bring its rules to what is wanted; true if it was asked. While it works on an
 * earlier wish it is asked nothing more, so that no late attempt of that can undo this one: the tick asks when it is over.
 * Needs the role `gpuaas_worker`.
 */
export async function askForIngress(
  { clock, policies }: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  allocation: AllocationRow,
): Promise<boolean> {
  const now = clock.now();
  const busy = await tx
    .selectFrom('node_tasks')
    .select('id')
    .where('allocation_id', '=', allocation.id)
    .where('kind', '=', INGRESS_TASK)
    .where('state', 'in', ['queued', 'claimed'])
    .where('expires_at', '>', now)
    .executeTakeFirst();
  if (busy) return false;
  const deadlineMs = policies.get('fleet.discovery_deadline_seconds') * 1000;
  const taskId = await issueTask(tx, {
    nodeId: allocation.node_id!,
    kind: INGRESS_TASK,
    params: { allocation_id: allocation.id, rules: await wantedRules(tx, allocation.id) },
    correlationId: allocation.correlation_id,
    allocationId: allocation.id,
    expiresAt: new Date(now.getTime() + deadlineMs),
  });
  await tx
    .updateTable('public_ingresses')
    .set({ task_id: taskId })
    .where('allocation_id', '=', allocation.id)
    .where('state', 'in', ['attaching', 'detaching'])
    .execute();
  return true;
}

/** What should lead to the machine of an allocation. */
export async function wantedRules(db: Db | Tx, allocationId: string): Promise<IngressRule[]> {
  const rows = await db
    .selectFrom('public_ingresses')
    .select(['public_address', 'protocol', 'public_port', 'machine_port'])
    .where('allocation_id', '=', allocationId)
    .where('state', 'in', ['attaching', 'attached'])
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ ...row, protocol: row.protocol as IngressRule['protocol'] }));
}
