import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import { first } from '../../../platform/present.ts';
import type { FleetServices } from '../../fleet/needs.ts';
import { getSlot } from '../../fleet/slots/list-slots.ts';
import { forceRelease } from '../release/force-release.ts';
import { describeBlockedSlot, listCleanupQueue } from './list-cleanup-queue.ts';
import { recordExternalWipe } from './record-external-wipe.ts';
import { recordAttestedCleanup } from './record-attested-cleanup.ts';
import { retireSlot } from './retire-slot.ts';
import { retryCleanups, retryRelease } from './retry-cleanup.ts';
import { showAllocation } from '../show-allocation.ts';

type CleanupOperations = Pick<
  operations,
  | 'listCleanupQueue'
  | 'retryCleanup'
  | 'retryCleanups'
  | 'recordExternalWipe'
  | 'retireSlot'
  | 'forceReleaseAllocation'
  | 'retryReleaseForTenant'
  | 'recordHostCleanup'
>;

/** Routes for operators when a cleanup does not end. */
export function cleanupRoutes(services: FleetServices): Handlers<CleanupOperations, Caller> {
  return {
    async listCleanupQueue({ caller, query, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      return {
        status: 200,
        body: await read((tx) => listCleanupQueue(services, tx, query)),
      };
    },
    retryCleanup({ caller, params, correlationId, audit, mutate }) {
      audit({ targetType: 'slot', targetId: params.slot_id });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.clean', atPlatform);
        const blocked = await retryCleanups(services, tx, [params.slot_id], 'operator', correlationId);
        const { nodeId, slotId } = first(blocked, 'slot');
        return { status: 202, body: await describeBlockedSlot(services, tx, nodeId, slotId) };
      });
    },
    retryCleanups({ caller, body, correlationId, audit, mutate }) {
      const { slot_ids, destroy_foreign_data } = body;
      const cause = destroy_foreign_data ? 'operator_all_data' : 'operator';
      audit({ targetType: 'slot', targetId: first(slot_ids, 'slot'), detail: { cause, slot_ids } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.clean', atPlatform);
        await retryCleanups(services, tx, slot_ids, cause, correlationId);
        return { status: 202, body: { slot_ids } };
      });
    },
    recordExternalWipe({ caller, params, body, correlationId, audit, mutate }) {
      const { device_serial: deviceSerial, method, evidence } = body;
      audit({ targetType: 'slot', targetId: params.slot_id, detail: { deviceSerial, method, evidence } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.clean', atPlatform);
        const nodeId = await recordExternalWipe(services, tx, {
          slotId: params.slot_id,
          deviceSerial,
          method,
          evidence,
          witnessId: caller.id,
          correlationId,
        });
        return { status: 200, body: await getSlot(services, tx, nodeId, params.slot_id) };
      });
    },
    retireSlot({ caller, params, body, correlationId, audit, mutate }) {
      audit({ targetType: 'slot', targetId: params.slot_id, detail: { reason: body.reason } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.clean', atPlatform);
        const request = { slotId: params.slot_id, reason: body.reason, correlationId };
        const nodeId = await retireSlot(services, tx, request);
        return { status: 200, body: await getSlot(services, tx, nodeId, params.slot_id) };
      });
    },
    forceReleaseAllocation({ caller, params, body, audit, mutate }) {
      const target = { targetType: 'allocation', targetId: params.allocation_id } as const;
      const { reason } = body;
      audit({ ...target, detail: { reason } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.clean', atPlatform);
        const row = await forceRelease(services, tx, params.allocation_id, reason);
        audit({ ...target, organizationId: row.organization_id, detail: { reason, state: row.state } });
        return { status: 200, body: await showAllocation(services, tx, row) };
      });
    },
    retryReleaseForTenant({ caller, params, correlationId, audit, mutate }) {
      const target = { targetType: 'allocation', targetId: params.allocation_id } as const;
      audit(target);
      return mutate(async (tx) => {
        authorize(caller, 'fleet.clean', atPlatform);
        const row = await retryRelease(services, tx, params.allocation_id, correlationId);
        audit({ ...target, organizationId: row.organization_id });
        return { status: 202, body: await showAllocation(services, tx, row) };
      });
    },
    recordHostCleanup({ caller, params, body, audit, mutate }) {
      const target = { targetType: 'allocation', targetId: params.allocation_id } as const;
      audit({ ...target, detail: { ...body } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.clean', atPlatform);
        const witness = { allocationId: params.allocation_id, witnessId: caller.id, ...body };
        const row = await recordAttestedCleanup(services, tx, witness);
        audit({ ...target, organizationId: row.organization_id, detail: { ...body } });
        return { status: 200, body: await showAllocation(services, tx, row) };
      });
    },
  };
}
