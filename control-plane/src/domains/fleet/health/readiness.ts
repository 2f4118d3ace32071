import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { issueInspectionTask } from '../nodes/issue-inspection-task.ts';
import { latestSucceededTask } from '../../tasks/latest-succeeded.ts';

type NodeReadiness = components['schemas']['NodeReadiness'];
type NodeTask = components['schemas']['NodeTask'];

/** Queues a readiness check of the host. Its result is evidence and changes nothing else. */
export async function startReadinessCheck(
  services: Services,
  tx: Tx,
  nodeId: string,
  correlationId: string,
): Promise<NodeTask> {
  return await issueInspectionTask(services, tx, {
    nodeId,
    kind: 'slice.prereq_check',
    params: {},
    correlationId,
  });
}

export async function getReadiness(db: Db | Tx, nodeId: string): Promise<NodeReadiness> {
  const latest = await latestSucceededTask(db, nodeId, 'slice.prereq_check');
  if (!latest) {
    return { state: 'unknown', task_id: null, checked_at: null, reboot_required: false, checks: [] };
  }
  const { ready, reboot_required, checked_at, checks } = latest.output;
  return {
    state: ready && !checks.some(isFailedCheck) ? 'ready' : 'not_ready',
    task_id: latest.task.id,
    checked_at,
    reboot_required,
    checks,
  };
}

/** An unreadable check counts as missing. */
export function isFailedCheck(check: NodeReadiness['checks'][number]): boolean {
  return check.state === 'missing' || check.state === 'unknown';
}
