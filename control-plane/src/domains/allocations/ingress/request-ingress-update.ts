import type { IngressRule } from '@gpuaas/contracts/tasks';
import type { Db, Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { hasOpenTask } from '../../tasks/has-open-task.ts';
import { issueTask } from '../../tasks/issue-task.ts';
import { type AllocationRow, hostOf } from '../transition-allocation.ts';

const INGRESS_TASK = 'slice.ingress_set';

/**
 * Has the host of a locked, active allocation apply the desired rules; true if a task was issued. While an
 * earlier task runs no other is issued, so that its late attempt cannot undo this one: the tick issues the
 * next task afterwards. Needs the role `gpuaas_worker`.
 */
export async function requestIngressUpdate(
  { clock, policies }: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  allocation: AllocationRow,
): Promise<boolean> {
  const now = clock.now();
  const subject = { type: 'allocation', id: allocation.id } as const;
  if (await hasOpenTask(tx, subject, INGRESS_TASK, now)) return false;
  const deadlineMs = policies.get('fleet.discovery_deadline_seconds') * 1000;
  const taskId = await issueTask(tx, {
    nodeId: hostOf(allocation),
    kind: INGRESS_TASK,
    params: { allocation_id: allocation.id, rules: await desiredRules(tx, allocation.id) },
    correlationId: allocation.correlation_id,
    subject,
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

/** Desired forwardings to the machine of an allocation. */
export async function desiredRules(db: Db | Tx, allocationId: string): Promise<IngressRule[]> {
  const rows = await db
    .selectFrom('public_ingresses')
    .select(['public_address', 'protocol', 'public_port', 'machine_port'])
    .where('allocation_id', '=', allocationId)
    .where('state', 'in', ['attaching', 'attached'])
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ ...row, protocol: row.protocol }));
}
