import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { askHost } from './ask-host.ts';
import { latestSucceeded } from './latest-task.ts';

type NodeReadiness = components['schemas']['NodeReadiness'];
type NodeTask = components['schemas']['NodeTask'];

/** Queues a check of the host. What it finds is evidence; it changes nothing by itself. */
export async function startReadinessCheck(
  services: Services,
  tx: Tx,
  nodeId: string,
  correlationId: string,
): Promise<NodeTask> {
  return await askHost(services, tx, { nodeId, kind: 'slice.prereq_check', params: {}, correlationId });
}

export async function readinessOf(db: Db | Tx, nodeId: string): Promise<NodeReadiness> {
  const latest = await latestSucceeded(db, nodeId, 'slice.prereq_check');
  if (!latest) {
    return { state: 'unknown', task_id: null, checked_at: null, reboot_required: false, checks: [] };
  }
  const { ready, reboot_required, checked_at, checks } = latest.output;
  return {
    state: ready && !checks.some(isMiss) ? 'ready' : 'not_ready',
    task_id: latest.task.id,
    checked_at,
    reboot_required,
    checks,
  };
}

/** What could not be read counts as missing. */
export function isMiss(check: NodeReadiness['checks'][number]): boolean {
  return check.state === 'missing' || check.state === 'unknown';
}
