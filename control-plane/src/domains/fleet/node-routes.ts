import type { operations } from '@gpuaas/contracts/generated/node-openapi.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { FleetServices } from './needs.ts';
import { enrollNode } from './identity/enroll-node.ts';
import type { NodeCaller } from './identity/node-caller.ts';
import { issueNodeIdentity } from './identity/issue-identity.ts';
import { limitRenewals } from './identity/limit-renewals.ts';
import { recordHeartbeat } from './health/record-heartbeat.ts';
import { trustUpdate } from './identity/trust-update.ts';

type HostOperations = Pick<operations, 'enrollNode' | 'renewNode' | 'heartbeat'>;

/** What agents may say of their host. Identity comes from the certificate, never from the body. */
export function nodeRoutes(services: FleetServices): Handlers<HostOperations, NodeCaller> {
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
      return mutate(async (tx) => {
        await limitRenewals(services, tx, caller.nodeId);
        const { serialNumber } = caller.certificate ?? {};
        return {
          status: 201,
          body: await issueNodeIdentity(services, tx, caller.nodeId, body.csr_pem, serialNumber),
        };
      });
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
        const trust = trustUpdate(services.authorities, caller.certificate, body.ca_bundle_sha256);
        return { status: 200, body: { server_time: now.toISOString(), ...trust } };
      });
    },
  };
}
