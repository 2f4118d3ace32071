import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { authorize, type Caller } from '../../platform/auth/caller.ts';
import { requireMatch } from '../../platform/http/etag.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { createEnrolment } from './create-enrolment.ts';
import { latestDiscovery, startDiscovery } from './discovery.ts';
import { getNode, listNodes } from './list-nodes.ts';
import { getTask } from './get-task.ts';
import { listTasks } from './list-tasks.ts';
import { editableOf, editNode } from './edit-node.ts';
import { lockNode } from './lock-node.ts';

type FleetOperations = Pick<
  operations,
  | 'listNodes'
  | 'getNode'
  | 'startTopologyDiscovery'
  | 'getTopologyDiscovery'
  | 'createNodeEnrolment'
  | 'updateNode'
  | 'listNodeTasks'
  | 'getNodeTask'
>;

const platform = { kind: 'platform' } as const;

export function fleetRoutes(services: Services): Handlers<FleetOperations, Caller> {
  const { clock } = services;
  return {
    async listNodes({ caller, query, read }) {
      authorize(caller, 'fleet.read', platform);
      return { status: 200, body: await read((tx) => listNodes(services, tx, { limit: 50, ...query })) };
    },
    async getNode({ caller, params, read }) {
      authorize(caller, 'fleet.read', platform);
      return { status: 200, body: await read((tx) => getNode(services, tx, params.node_id)) };
    },
    updateNode({ caller, params, body, request, correlationId, audit, mutate }) {
      audit({ targetType: 'node', targetId: params.node_id, detail: { ...body } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.operate', platform);
        const node = await lockNode(tx, params.node_id);
        requireMatch(request, editableOf(node));
        await editNode(tx, node, body, correlationId);
        return { status: 200, body: await getNode(services, tx, params.node_id) };
      });
    },
    startTopologyDiscovery({ caller, params, correlationId, audit, mutate }) {
      audit({ targetType: 'node', targetId: params.node_id });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.discover', platform);
        const body = await startDiscovery(services, tx, params.node_id, correlationId);
        return {
          status: 202,
          body,
          location: `/api/v1/admin/nodes/${params.node_id}/slice-topology/discovery`,
        };
      });
    },
    async getTopologyDiscovery({ caller, params, read }) {
      authorize(caller, 'fleet.read', platform);
      return { status: 200, body: await read((tx) => latestDiscovery(tx, clock.now(), params.node_id)) };
    },
    createNodeEnrolment({ caller, body, audit, mutate }) {
      audit({
        targetType: 'node_enrolment',
        targetId: body.hostname ?? 'any new host',
        detail: { region: body.region },
      });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.enrol', platform);
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
    async listNodeTasks({ caller, query, read }) {
      authorize(caller, 'fleet.read', platform);
      return { status: 200, body: await read((tx) => listTasks(tx, clock.now(), { limit: 50, ...query })) };
    },
    async getNodeTask({ caller, params, read }) {
      authorize(caller, 'fleet.read', platform);
      return { status: 200, body: await read((tx) => getTask(tx, clock.now(), params.task_id)) };
    },
  };
}
