import type { AppReason } from '@gpuaas/contracts/generated/reasons.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { moveInstance } from './move-instance.ts';
import { recordAppEvent, type InstanceRow } from './record-event.ts';
import type { Ending } from './states.ts';
import { STOP_WORKFLOW, stopWorkflowId } from './workflow-names.ts';

export interface End {
  ending: Ending;
  reason: AppReason | null;
  exitCode?: number | null;
  message: string;
}

type EndingServices = Pick<Services, 'clock' | 'policies' | 'workflows'>;

/**
 * Decides how an instance ends, and starts its teardown. The first decision counts; false if there was one. The instance
 * must be locked. Only a stop shows as `stopping`: what fails or succeeds stays as it is until the teardown is over.
 */
export async function beginEnding(
  { clock, policies, workflows }: EndingServices,
  tx: Tx,
  instance: InstanceRow,
  { ending, reason, exitCode = null, message }: End,
): Promise<boolean> {
  if (instance.ending !== null || instance.ended_at !== null) return false;
  const now = clock.now();
  const scope = { organizationId: instance.organization_id, projectId: instance.project_id };
  const seconds = policies.get('apps.stop_timeout_seconds', scope);
  const change = {
    ending,
    reason,
    exit_code: exitCode,
    gate: null,
    due_at: new Date(now.getTime() + seconds * 1000),
  };
  if (ending === 'stopped') {
    const stopping = await moveInstance(tx, instance, 'stopping', { ...change, desired: 'stop' });
    await recordAppEvent(tx, now, stopping, { type: 'stopping', reason, message });
  } else await tx.updateTable('app_instances').set(change).where('id', '=', instance.id).execute();
  // From here on its teardown looks at the machine.
  await tx
    .updateTable('app_instance_members')
    .set({ observe_at: null })
    .where('instance_id', '=', instance.id)
    .execute();
  await workflows.start(tx, STOP_WORKFLOW, stopWorkflowId(instance.id), {
    instanceId: instance.id,
    correlationId: instance.correlation_id,
  });
  return true;
}
