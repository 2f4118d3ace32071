import { withRole } from '../../platform/db/scope.ts';
import type { ReleaseHook } from '../allocations/release/release-hooks.ts';
import { requestStop } from './instances/request-stop.ts';
import { stopWorkflowId } from './instances/workflow-names.ts';

const RELEASED = { reason: 'cancelled', message: 'The allocation is being released' } as const;

/** App instances end before their machine goes. A gate keeps new ones from an allocation whose release is requested. */
export const stopApps: ReleaseHook = {
  requested: async () => undefined,
  releasing: async () => undefined,
  letGo: (services, tx, { id: allocationId, organization_id: organizationId, project_id: projectId }) =>
    withRole(tx, 'gpuaas_worker', async () => {
      const live = await tx
        .selectFrom('app_instances')
        .select('id')
        .where('allocation_id', '=', allocationId)
        .where('ended_at', 'is', null)
        .orderBy('id')
        .execute();
      const workflowIds: string[] = [];
      for (const { id } of live) {
        const { ended_at: ended } = await requestStop(services, tx, id, RELEASED);
        if (ended === null) workflowIds.push(stopWorkflowId(id));
      }
      const seconds = services.policies.get('apps.stop_timeout_seconds', { organizationId, projectId });
      return { workflowIds, seconds };
    }),
};
