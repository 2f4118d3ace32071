import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { FleetServices } from './needs.ts';
import { cancelMaintenance } from './maintenance/cancel-maintenance.ts';
import { describeConversion, requestConversion } from './conversion/request-conversion.ts';
import { drainNode, resumeNode } from './nodes/drain-node.ts';
import { listNodeRows } from './nodes/list-node-rows.ts';
import { getNode } from './nodes/list-nodes.ts';
import { describeBurnIn, recordBurnIn } from './health/record-burn-in.ts';
import { getReadiness, startReadinessCheck } from './health/readiness.ts';
import { describeWindow } from './maintenance/maintenance-window.ts';
import { requireNode } from './nodes/require-node.ts';
import { scheduleMaintenance } from './maintenance/schedule-maintenance.ts';
import { startReconciliation } from './health/start-reconciliation.ts';

type NodeOperations = Pick<
  operations,
  | 'drainNode'
  | 'resumeNode'
  | 'getNodeReadiness'
  | 'startReadinessCheck'
  | 'startReconciliation'
  | 'listNodeBurnIns'
  | 'recordNodeBurnIn'
  | 'listMaintenanceWindows'
  | 'scheduleMaintenance'
  | 'cancelMaintenance'
  | 'convertNode'
  | 'listNodeConversions'
>;

/** What operators do with a host as a whole. */
export function nodeOperationRoutes(services: FleetServices): Handlers<NodeOperations, Caller> {
  const { clock } = services;
  return {
    drainNode({ caller, params, body, correlationId, audit, mutate }) {
      audit({ targetType: 'node', targetId: params.node_id, detail: { reason: body.reason } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.operate', atPlatform);
        await drainNode(tx, params.node_id, body.reason, correlationId);
        return { status: 200, body: await getNode(services, tx, params.node_id) };
      });
    },
    resumeNode({ caller, params, correlationId, audit, mutate }) {
      audit({ targetType: 'node', targetId: params.node_id });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.operate', atPlatform);
        await resumeNode(tx, params.node_id, correlationId);
        return { status: 200, body: await getNode(services, tx, params.node_id) };
      });
    },
    convertNode({ caller, params, body, correlationId, audit, mutate }) {
      audit({ targetType: 'node', targetId: params.node_id, detail: { ...body } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.operate', atPlatform);
        const request = { nodeId: params.node_id, requestedBy: caller.id, correlationId, ...body };
        return { status: 202, body: await requestConversion(services, tx, request) };
      });
    },
    async listNodeConversions({ caller, params, query, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      const body = await read((tx) =>
        listNodeRows(tx, 'node_conversions', params.node_id, query, describeConversion),
      );
      return { status: 200, body };
    },
    async getNodeReadiness({ caller, params, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      const body = await read(async (tx) => {
        await requireNode(tx, params.node_id);
        return await getReadiness(tx, params.node_id);
      });
      return { status: 200, body };
    },
    startReadinessCheck({ caller, params, correlationId, audit, mutate }) {
      audit({ targetType: 'node', targetId: params.node_id });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.discover', atPlatform);
        const task = await startReadinessCheck(services, tx, params.node_id, correlationId);
        return { status: 202, body: task, location: `/api/v1/admin/tasks/${task.id}` };
      });
    },
    startReconciliation({ caller, params, correlationId, audit, mutate }) {
      audit({ targetType: 'node', targetId: params.node_id });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.discover', atPlatform);
        const task = await startReconciliation(services, tx, params.node_id, correlationId);
        return { status: 202, body: task, location: `/api/v1/admin/tasks/${task.id}` };
      });
    },
    async listNodeBurnIns({ caller, params, query, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      const body = await read((tx) =>
        listNodeRows(tx, 'node_burn_ins', params.node_id, query, describeBurnIn),
      );
      return { status: 200, body };
    },
    recordNodeBurnIn({ caller, params, body, correlationId, audit, mutate }) {
      audit({ targetType: 'node', targetId: params.node_id, detail: { result: body.result } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.approve', atPlatform);
        const recorded = await recordBurnIn(tx, {
          nodeId: params.node_id,
          result: body.result,
          evidence: body.evidence,
          recordedBy: caller.id,
          at: clock.now(),
          correlationId,
        });
        return { status: 201, body: recorded };
      });
    },
    async listMaintenanceWindows({ caller, params, query, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      const body = await read((tx) =>
        listNodeRows(tx, 'maintenance_windows', params.node_id, query, (row) =>
          describeWindow(row, clock.now()),
        ),
      );
      return { status: 200, body };
    },
    scheduleMaintenance({ caller, params, body, correlationId, audit, mutate }) {
      audit({ targetType: 'node', targetId: params.node_id, detail: { ...body } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.operate', atPlatform);
        const window = await scheduleMaintenance(services, tx, {
          nodeId: params.node_id,
          startsAt: new Date(body.starts_at),
          endsAt: new Date(body.ends_at),
          reason: body.reason,
          createdBy: caller.id,
          now: clock.now(),
          correlationId,
        });
        return { status: 201, body: window };
      });
    },
    cancelMaintenance({ caller, params, correlationId, audit, mutate }) {
      audit({ targetType: 'maintenance_window', targetId: params.window_id });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.operate', atPlatform);
        const window = await cancelMaintenance(services, tx, {
          nodeId: params.node_id,
          windowId: params.window_id,
          now: clock.now(),
          correlationId,
        });
        return { status: 200, body: window };
      });
    },
  };
}
