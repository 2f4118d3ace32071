import { parseTaskOutput } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { startMeter } from '../billing/start-meter.ts';
import { emitSlotsChanged, moveNodeSlots, moveSlots } from '../fleet/slot-states.ts';
import { emitAllocation } from './allocation-events.ts';
import { claimedSlots } from './claims.ts';
import { hostUsername } from './host-username.ts';
import { isBaremetal, lockAllocation, moveAllocation, type AllocationRow } from './move-allocation.ts';
import { GUEST_USER } from './provision-task.ts';

/** What the host delivered, in the same words for a machine of slots and for a whole host. */
interface Delivery {
  connection: object;
  bootId: string;
  startedAt: string;
}

/** The machine answers: it is the tenant's, and billing starts. Nothing to do when an operator ended it meanwhile. */
export async function activateAllocation(
  services: Services,
  allocationId: string,
  output: unknown,
): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const current = await lockAllocation(tx, allocationId);
    if (current.state !== 'provisioning') return;
    const delivery = deliveryOf(current, output);
    const moved = await moveAllocation(tx, current, 'active', {
      observed_state: 'running',
      execution_state: 'idle',
      active_at: services.clock.now(),
      connection: JSON.stringify(delivery.connection),
      machine_boot_id: delivery.bootId,
      machine_started_at: delivery.startedAt,
    });
    if (!moved) return;
    await startMeter(tx, moved);
    await occupySlots(tx, moved);
    await emitAllocation(tx, 'allocation.active', moved, {
      stage: 'active',
      status: 'done',
      message: 'The machine answers; billing has started',
      percent: 100,
    });
    await emitSlotsChanged(tx, moved.node_id!, moved.correlation_id);
  });
}

async function occupySlots(tx: Tx, allocation: AllocationRow): Promise<void> {
  const health = { state: 'healthy', detail: 'The machine on it passed its readiness checks.' } as const;
  if (isBaremetal(allocation)) {
    await moveNodeSlots(tx, allocation.node_id!, { to: 'reserved' });
    await moveNodeSlots(tx, allocation.node_id!, { to: 'in_use', health });
    return;
  }
  const slots = await claimedSlots(tx, allocation.id);
  await moveSlots(
    tx,
    slots.map((slot) => slot.slot_id),
    { to: 'in_use', health },
  );
}

function deliveryOf(allocation: AllocationRow, output: unknown): Delivery {
  if (isBaremetal(allocation)) {
    const host = parseTaskOutput('allocation.provision_user', output);
    return {
      connection: {
        username: hostUsername(allocation.id),
        host_key_fingerprint: host.host_key_fingerprint,
        host_public_key: host.host_public_key ?? null,
        mac: '',
        expected_ip: host.address ?? '',
        actual_ip: host.address,
        lease_state: 'bound',
      },
      bootId: host.boot_id,
      startedAt: host.started_at,
    };
  }
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
}
