import { parseTaskOutput } from '@gpuaas/contracts/tasks';
import { readinessChecks } from '../../catalog/readiness-checks.ts';
import { transitionSlots } from '../../fleet/slots/transition-slots.ts';
import { openIncident } from '../../incidents/open-incident.ts';
import { claimedSlots, soldProfile } from '../claims.ts';
import { buildReleaseTask, recordWipes, reportBlockedSlots } from '../cleanup/slot-cleanup.ts';
import type { Shape } from './shape.ts';

const GUEST_USER = 'ubuntu';

/** A virtual machine on some slots of a host. */
export const slice: Shape = {
  namePrefix: 'slice',
  claimed: (slotIds) => [...slotIds],
  noRoom: (gpus, largest) =>
    `No single node has ${gpus} free right now. ${largest ?? 'No capacity in this region right now.'}`,
  ingressRefusal: null,
  userDataRefusal: null,
  attestedBy: 'slot',
  isRecordedAlone: false,

  async provisionTask(_, tx, allocation, keys) {
    return {
      kind: 'slice.vm_provision',
      params: {
        allocation_id: allocation.id,
        hostname: allocation.name,
        image: { name: allocation.image, digest: allocation.image_digest },
        slots: await claimedSlots(tx, allocation.id),
        ...(await soldProfile(tx, allocation.id)),
        username: GUEST_USER,
        ssh_authorized_keys: keys,
        readiness_checks: await readinessChecks(tx, allocation.image),
      },
    };
  },
  delivery(_, output) {
    const vm = parseTaskOutput('slice.vm_provision', output);
    return {
      connection: {
        username: GUEST_USER,
        host_key_fingerprint: vm.host_key_fingerprint,
        host_public_key: vm.host_public_key ?? null,
        ...vm.network,
      },
      bootId: vm.boot_id,
      startedAt: vm.started_at,
    };
  },
  occupy: (tx, allocation, health) => slice.moveHeld(tx, allocation, { to: 'in_use', health }),
  async moveHeld(tx, allocation, move) {
    const slots = await claimedSlots(tx, allocation.id);
    if (slots.length === 0) return;
    await transitionSlots(
      tx,
      slots.map((slot) => slot.slot_id),
      move,
    );
  },
  // A slot's disk may hold data of another use.
  ownDataOnly: false,
  cleanupTask: buildReleaseTask,
  recordCleanups: recordWipes,
  reportBlocked: (services, tx, allocation, { attempts }) =>
    reportBlockedSlots(services, tx, allocation.id, attempts),
  async reportLeftBehind(services, tx, allocation, reason) {
    for (const slot of await claimedSlots(tx, allocation.id)) {
      await openIncident(tx, services.clock.now(), {
        type: 'slot_cleanup_blocked',
        targetType: 'slot',
        targetId: slot.slot_id,
        summary: `Slot ${slot.slot_index} is quarantined: its allocation was released without its host.`,
        detail: { allocation_id: allocation.id, nvme_serial: slot.nvme_serial, reason },
      });
    }
  },
};
