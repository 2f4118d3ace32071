import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../platform/auth/caller.ts';
import { requireIfMatch } from '../../platform/http/etag.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { FleetServices } from './needs.ts';
import { createEnrolment } from './identity/create-enrolment.ts';
import { latestDiscovery, startDiscovery } from './topology/discovery.ts';
import { getNode, listNodes } from './nodes/list-nodes.ts';
import { editableFields, editNode } from './nodes/edit-node.ts';
import { lockNode } from './nodes/lock-node.ts';

type FleetOperations = Pick<
  operations,
  | 'listNodes'
  | 'getNode'
  | 'startTopologyDiscovery'
  | 'getTopologyDiscovery'
  | 'createNodeEnrolment'
  | 'updateNode'
>;

export function fleetRoutes(services: FleetServices): Handlers<FleetOperations, Caller> {
  const { clock } = services;
  return {
    async listNodes({ caller, query, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      return { status: 200, body: await read((tx) => listNodes(services, tx, query)) };
    },
    async getNode({ caller, params, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      return { status: 200, body: await read((tx) => getNode(services, tx, params.node_id)) };
    },
    updateNode({ caller, params, body, request, correlationId, audit, mutate }) {
      audit({ targetType: 'node', targetId: params.node_id, detail: { ...body } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.operate', atPlatform);
        const node = await lockNode(tx, params.node_id);
        requireIfMatch(request, editableFields(node));
        await editNode(services, tx, node, body, correlationId);
        return { status: 200, body: await getNode(services, tx, params.node_id) };
      });
    },
    startTopologyDiscovery({ caller, params, correlationId, audit, mutate }) {
      audit({ targetType: 'node', targetId: params.node_id });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.discover', atPlatform);
        const body = await startDiscovery(services, tx, params.node_id, correlationId);
        return {
          status: 202,
          body,
          location: `/api/v1/admin/nodes/${params.node_id}/slice-topology/discovery`,
        };
      });
    },
    async getTopologyDiscovery({ caller, params, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      return { status: 200, body: await read((tx) => latestDiscovery(tx, clock.now(), params.node_id)) };
    },
    createNodeEnrolment({ caller, body, audit, mutate }) {
      audit({
        targetType: 'node_enrolment',
        targetId: body.hostname ?? 'any new host',
        detail: { region: body.region },
      });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.enrol', atPlatform);
        const { id, token, expiresAt } = await createEnrolment(services, tx, {
          hostname: body.hostname ?? null,
          region: body.region,
          pool: body.pool ?? 'default',
          rack: body.rack ?? 'unassigned',
          nodeFamily: body.node_family ?? 'hgx-h200',
          createdBy: caller.id,
        });
        const answer = { id, token, expires_at: expiresAt.toISOString() };
        return {
          status: 201,
          body: answer,
          replayBody: { ...answer, token: null, secret_already_shown: true },
        };
      });
    },
  };
}
