import type { operations } from '@gpuaas/contracts/generated/node-openapi.ts';
import type { CallerIdentity } from '../../platform/http/caller-identity.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import { auditForeignTask } from './audit-foreign-task.ts';
import { claimTask } from './claim-task.ts';
import { completeTask } from './complete-task.ts';
import type { TaskServices } from './kinds.ts';
import { reportProgress } from './report-progress.ts';

type NodeTaskOperations = Pick<
  operations,
  'claimTask' | 'reportTaskRefusal' | 'reportTaskProgress' | 'completeTask'
>;

/** The calling host, identified by its certificate and never by the body. */
export interface TaskCaller extends CallerIdentity {
  nodeId: string;
  certificate: { serialNumber: string } | null;
}

/** Routes by which agents claim, report and complete tasks. */
export function nodeTaskRoutes(services: TaskServices): Handlers<NodeTaskOperations, TaskCaller> {
  return {
    async claimTask({ caller, body, request, stopping }) {
      const gone = new AbortController();
      const hangUp = (): void => gone.abort();
      request.raw.socket.once('close', hangUp);
      try {
        const task = await claimTask(
          services,
          caller.nodeId,
          body.wait_seconds,
          AbortSignal.any([gone.signal, stopping]),
          caller.certificate?.serialNumber,
        );
        return task ? { status: 200, body: task } : { status: 204, body: undefined };
      } finally {
        request.raw.socket.off('close', hangUp);
      }
    },
    reportTaskRefusal({ caller, body, audit, mutate }) {
      audit({ targetType: 'node', targetId: caller.nodeId, detail: { ...body } });
      return mutate(() => Promise.resolve({ status: 204, body: undefined }));
    },
    reportTaskProgress({ caller, params, body, correlationId, request, mutate }) {
      const answer = mutate(async (tx) => {
        await reportProgress(services, tx, caller.nodeId, params.task_id, body);
        return { status: 204, body: undefined };
      });
      return auditForeignTask(
        services,
        { nodeId: caller.nodeId, ...params, correlationId, ip: request.ip },
        answer,
      );
    },
    completeTask({ caller, params, body, correlationId, request, mutate }) {
      const answer = mutate(async (tx) => {
        await completeTask(services, tx, caller.nodeId, params.task_id, body);
        return { status: 204, body: undefined };
      });
      return auditForeignTask(
        services,
        { nodeId: caller.nodeId, ...params, correlationId, ip: request.ip },
        answer,
      );
    },
  };
}
