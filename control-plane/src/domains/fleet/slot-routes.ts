import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { FleetServices } from './needs.ts';
import { approveSlots } from './slots/approve-slots.ts';
import { finishDiskConversion, startDiskConversion } from './disks/convert-disk.ts';
import { disableSlot } from './slots/disable-slot.ts';
import { listDisks, setDiskOwnership } from './disks/disk-ownership.ts';
import { findDrift } from './topology/find-drift.ts';
import { getDiscovery, listDiscoveries } from './topology/list-discoveries.ts';
import { getSlot, listSlots } from './slots/list-slots.ts';
import { offerWholeNode } from './slots/offer-whole-node.ts';
import { repairSlot } from './slots/repair-slot.ts';

type SlotOperations = Pick<
  operations,
  | 'listTopologyDiscoveries'
  | 'getOneTopologyDiscovery'
  | 'getTopologyDrift'
  | 'listResourceSlots'
  | 'approveResourceSlots'
  | 'offerWholeNode'
  | 'disableResourceSlot'
  | 'repairResourceSlot'
  | 'listNodeDisks'
  | 'setDiskOwnership'
  | 'startDiskConversion'
  | 'finishDiskConversion'
>;

/** What the host was found to be, what of it may be sold, and who owns its disks. */
export function slotRoutes(services: FleetServices): Handlers<SlotOperations, Caller> {
  const { clock } = services;
  return {
    async listTopologyDiscoveries({ caller, params, query, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      const body = await read((tx) => listDiscoveries(tx, clock.now(), params.node_id, query));
      return { status: 200, body };
    },
    async getOneTopologyDiscovery({ caller, params, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      const body = await read((tx) =>
        getDiscovery(tx, clock.now(), params.node_id, params.discovery_task_id),
      );
      return { status: 200, body };
    },
    async getTopologyDrift({ caller, params, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      return { status: 200, body: await read((tx) => findDrift(tx, params.node_id)) };
    },
    async listResourceSlots({ caller, params, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      const items = await read((tx) => listSlots(services, tx, params.node_id));
      return { status: 200, body: { items, next_page: null } };
    },
    approveResourceSlots({ caller, params, body, correlationId, audit, mutate }) {
      const slotIndexes = body.slot_indexes;
      audit({ targetType: 'node', targetId: params.node_id, detail: { slot_indexes: slotIndexes ?? 'all' } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.approve', atPlatform);
        await approveSlots(services.policies, tx, {
          nodeId: params.node_id,
          discoveryTaskId: body.discovery_task_id,
          ...(slotIndexes ? { slotIndexes } : {}),
          destructiveWipePolicy: body.destructive_wipe_policy,
          fabricClaimMode: body.fabric_claim_mode ?? 'per_slot_vf',
          now: clock.now(),
          correlationId,
        });
        return {
          status: 200,
          body: { items: await listSlots(services, tx, params.node_id), next_page: null },
        };
      });
    },
    offerWholeNode({ caller, params, body, correlationId, audit, mutate }) {
      const { node_id: nodeId } = params;
      const { discovery_task_id: discoveryTaskId } = body;
      audit({ targetType: 'node', targetId: nodeId, detail: { discovery_task_id: discoveryTaskId } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.approve', atPlatform);
        await offerWholeNode(services, tx, { nodeId, discoveryTaskId, now: clock.now(), correlationId });
        return { status: 200, body: { items: await listSlots(services, tx, nodeId), next_page: null } };
      });
    },
    disableResourceSlot({ caller, params, body, correlationId, audit, mutate }) {
      const { node_id: nodeId, slot_id: slotId } = params;
      audit({ targetType: 'slot', targetId: slotId, detail: { reason: body.reason } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.approve', atPlatform);
        await disableSlot(tx, { nodeId, slotId, reason: body.reason, correlationId });
        return { status: 200, body: await getSlot(services, tx, nodeId, slotId) };
      });
    },
    repairResourceSlot({ caller, params, body, correlationId, audit, mutate }) {
      const { node_id: nodeId, slot_id: slotId } = params;
      audit({ targetType: 'slot', targetId: slotId, detail: { note: body.note } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.approve', atPlatform);
        const { discovery_task_id: discoveryTaskId, note } = body;
        await repairSlot(tx, { nodeId, slotId, discoveryTaskId, note, correlationId });
        return { status: 200, body: await getSlot(services, tx, nodeId, slotId) };
      });
    },
    async listNodeDisks({ caller, params, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      const items = await read((tx) => listDisks(tx, params.node_id));
      return { status: 200, body: { items, next_page: null } };
    },
    setDiskOwnership({ caller, params, body, audit, mutate }) {
      const { node_id: nodeId, serial } = params;
      audit({ targetType: 'disk', targetId: serial, detail: { node_id: nodeId, ownership: body.ownership } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.operate', atPlatform);
        return { status: 200, body: await setDiskOwnership(tx, nodeId, serial, body.ownership) };
      });
    },
    startDiskConversion({ caller, params, body, audit, mutate }) {
      const { node_id: nodeId, serial } = params;
      audit({ targetType: 'disk', targetId: serial, detail: { node_id: nodeId, note: body.note } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.approve', atPlatform);
        const now = clock.now();
        const request = { nodeId, serial, note: body.note, startedBy: caller.id, now };
        return { status: 200, body: await startDiskConversion(tx, request) };
      });
    },
    finishDiskConversion({ caller, params, body, audit, mutate }) {
      const { node_id: nodeId, serial } = params;
      const wipeProof = body.wipe_proof ?? null;
      audit({ targetType: 'disk', targetId: serial, detail: { node_id: nodeId, wipe_proof: wipeProof } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.approve', atPlatform);
        return { status: 200, body: await finishDiskConversion(tx, { nodeId, serial, wipeProof }) };
      });
    },
  };
}
