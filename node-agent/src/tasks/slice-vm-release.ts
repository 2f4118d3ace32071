import type { TaskOutput } from '@gpuaas/contracts/tasks';
import { AGENT_VERSION } from '../agent-version.ts';
import type { StopKind, WipeMethod } from '../host/host.ts';
import { removeSeed } from '../slices/cloud-init-seed.ts';
import type { TaskHandler } from './task-context.ts';
import { TaskError } from './task-error.ts';

const STOPPED: Record<StopKind, string> = {
  absent: 'There was no machine to stop',
  graceful: 'The machine shut down on request',
  forced: 'The machine did not follow and was switched off',
};

type Wipe = TaskOutput['slice.vm_release']['wipes'][number];

/**
 * Ends the VM of an allocation and wipes its disks. Disks are wiped even if the VM was never created. The
 * slot locks are released last, and only when every device was reset and every disk was read back as empty.
 */
export const releaseSliceVm: TaskHandler<'slice.vm_release'> = async (params, tools, context) => {
  const { host, leases, streams } = tools;
  const { allocation_id } = params;
  const slots = params.slots.toSorted((a, b) => a.slot_index - b.slot_index);
  const slotIds = slots.map((slot) => slot.slot_id);
  const methodOf = (slotId: string): WipeMethod => params.wipe_methods?.[slotId] ?? params.wipe_method;

  const stopping = context.stage('stop', 'Cutting connections and stopping the VM');
  // A stale release must not touch another tenant's slot, so ownership is checked before anything
  // destructive.
  await leases.take(slotIds, allocation_id);
  streams.revoke(allocation_id);
  const stop = await host.removeVm(allocation_id, params.stop_timeout_seconds, stopping);
  const vm_absent = !(await host.vmExists(allocation_id));
  if (!vm_absent) {
    throw new TaskError('vm_not_stopped', 'the VM could not be stopped; its disks were not touched', {
      vm_absent,
      stop,
      network_clean: false,
      wipes: [],
    });
  }
  await removeSeed(tools.dir, allocation_id);
  stopping.percent(100, STOPPED[stop]);

  const unplugging = context.stage('network_cleanup', 'Removing leases and ports of the machine');
  const residue = await host.cleanNetwork(slots, unplugging);
  const network_clean = residue.length === 0;
  unplugging.percent(100);

  const started = new Map<string, string>();
  const methods = [...new Set(slotIds.map(methodOf))].join(', ');
  const wiping = context.stage('wipe', `Wiping ${slots.length} disk by ${methods}`);
  const resets = await host.resetDevices(slots, wiping);
  for (const [index, slot] of slots.entries()) {
    started.set(slot.slot_id, new Date().toISOString());
    await host.wipeDisk(slot, methodOf(slot.slot_id), {
      signal: wiping.signal,
      percent: (percent) =>
        wiping.percent((index * 100 + percent) / slots.length, `Wiping ${slot.nvme_serial}`),
    });
  }

  const wipes: Wipe[] = [];
  const verifying = context.stage('verify', 'Reading the disks back');
  for (const [index, slot] of slots.entries()) {
    const proof = await host.verifyWipe(slot, {
      signal: verifying.signal,
      percent: (percent) =>
        verifying.percent((index * 100 + percent) / slots.length, `Reading ${slot.nvme_serial}`),
    });
    const reset = resets.get(slot.slot_id);
    wipes.push({
      slot_id: slot.slot_id,
      device_serial: slot.nvme_serial,
      method: methodOf(slot.slot_id),
      verified: proof.verified && reset?.done !== false,
      verification: (reset ? `${proof.verification}; ${reset.evidence}` : proof.verification).slice(0, 500),
      tools: [{ name: 'gpuaas-node-agent', version: AGENT_VERSION }, ...proof.tools],
      started_at: started.get(slot.slot_id) ?? new Date().toISOString(),
      finished_at: new Date().toISOString(),
    });
  }

  const dirty = wipes.filter((wipe) => !wipe.verified);
  if (dirty.length > 0) {
    const detail = dirty.map((wipe) => `${wipe.device_serial}: ${wipe.verification}`).join('; ');
    throw new TaskError('wipe_not_verified', detail, { vm_absent, stop, network_clean, wipes });
  }
  if (!network_clean) {
    const detail = `still on the host: ${residue.join(', ')}`;
    throw new TaskError('network_not_clean', detail, { vm_absent, stop, network_clean, wipes });
  }
  await leases.drop(slotIds, allocation_id);
  return { vm_absent, stop, network_clean, wipes };
};
