import type { operations } from '@gpuaas/contracts/generated/node-openapi.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { auditForeignTask } from './audit-foreign-task.ts';
import { claimTask } from './claim-task.ts';
import { completeTask } from './complete-task.ts';
import { enrollNode } from './enroll-node.ts';
import type { NodeCaller } from './node-caller.ts';
import { issueNodeIdentity } from './node-identity.ts';
import { recordHeartbeat } from './record-heartbeat.ts';
import { reportProgress } from './report-progress.ts';
import { trustToTell } from './trust-to-tell.ts';

/** What agents may say. Identity comes from the certificate, never from the body. */
export function nodeRoutes(services: Services): Handlers<operations, NodeCaller> {
  return {
    enrollNode({ body, correlationId, audit, mutate }) {
      audit({ targetType: 'node', targetId: body.hostname });
      return mutate(async (tx) => ({
        status: 201,
        body: await enrollNode(services, tx, {
          token: body.token,
          csrPem: body.csr_pem,
          hostname: body.hostname,
          agentVersion: body.agent_version,
          correlationId,
        }),
      }));
    },
    renewNode({ caller, body, audit, mutate }) {
      audit({ targetType: 'node', targetId: caller.nodeId });
      return mutate(async (tx) => ({
        status: 201,
        body: await issueNodeIdentity(
          services,
          tx,
          caller.nodeId,
          body.csr_pem,
          caller.certificate?.serialNumber,
        ),
      }));
    },
    heartbeat({ caller, body, mutate }) {
      return mutate(async (tx) => {
        const now = await recordHeartbeat(
          services,
          tx,
          caller.nodeId,
          body,
          caller.certificate?.serialNumber,
        );
        const trust = trustToTell(services.authorities, caller.certificate, body.ca_bundle_sha256);
        return { status: 200, body: { server_time: now.toISOString(), ...trust } };
      });
    },
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
    reportTaskProgress({ caller, params, body, correlationId, mutate }) {
      const answer = mutate(async (tx) => {
        await reportProgress(services, tx, caller.nodeId, params.task_id, body);
        return { status: 204, body: undefined };
      });
      return auditForeignTask(services, { nodeId: caller.nodeId, ...params, correlationId }, answer);
    },
    completeTask({ caller, params, body, correlationId, mutate }) {
      const answer = mutate(async (tx) => {
        await completeTask(services, tx, caller.nodeId, params.task_id, body);
        return { status: 204, body: undefined };
      });
      return auditForeignTask(services, { nodeId: caller.nodeId, ...params, correlationId }, answer);
    },
  };
}
