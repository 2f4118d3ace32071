import type { SlotBundle, TaskOutput } from '@gpuaas/contracts/tasks';
import { AGENT_VERSION } from '../agent-version.ts';
import type { StopKind, WipeMethod } from '../host/host.ts';
import { removeSeed } from '../slices/cloud-init-seed.ts';
import { disksWrittenBy, forgetWrittenDisk, WRITTEN_DISKS } from '../slices/written-disks.ts';
import type { TaskHandler } from './task-context.ts';
import { TaskError } from './task-error.ts';

const STOPPED: Record<StopKind, string> = {
  absent: 'There was no machine to stop',
  graceful: 'The machine shut down on request',
  forced: 'The machine did not follow and was switched off',
};

/** The method of a disk that the allocation never wrote and that reads back as blank. */
const NOT_WRITTEN = 'none';

type Wipe = TaskOutput['slice.vm_release']['wipes'][number];

/**
 * Ends the VM of an allocation and wipes the disks that it wrote, even if the VM was never started. Data of
 * another use is destroyed only if an operator confirmed it. A slot lock is released last, and only when its
 * device was reset and its disk was read back as empty.
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
  await removeSeed(tools.dir, allocation_id, [WRITTEN_DISKS]);
  stopping.percent(100, STOPPED[stop]);

  const unplugging = context.stage('network_cleanup', 'Removing leases and ports of the machine');
  const residue = await host.cleanNetwork(slots, unplugging);
  const network_clean = residue.length === 0;
  unplugging.percent(100);

  const done = { vm_absent, stop, network_clean };
  if (params.wipe_scope === 'nothing') return { ...done, wipes: [] };

  const started = new Map<string, string>();
  const methods = [...new Set(slotIds.map(methodOf))].join(', ');
  const wiping = context.stage('wipe', `Wiping ${slots.length} disk by ${methods}`);
  const written = await disksWrittenBy(tools.dir, allocation_id);
  const isWritten = ({ nvme_serial }: SlotBundle): boolean => written.has(nvme_serial);
  for (const slot of slots) await host.requireUnusedDisk(slot, isWritten(slot));
  const isWiped = (slot: SlotBundle): boolean => params.wipe_scope === 'all_data' || isWritten(slot);
  const depth = params.verification ?? 'sampled';
  for (const slot of slots.filter((one) => !isWiped(one))) {
    const { verified, verification } = await host.verifyWipe(slot, depth, wiping);
    if (verified) continue;
    const detail = `disk ${slot.nvme_serial} carries data that this allocation did not write (${verification})`;
    throw new TaskError('disk_not_ours', `${detail}; an operator must confirm its wipe`, {
      ...done,
      wipes: [],
    });
  }
  const resets = await host.resetDevices(slots, wiping);
  for (const [index, slot] of slots.entries()) {
    if (!isWiped(slot)) continue;
    started.set(slot.slot_id, new Date().toISOString());
    const wipe = { method: methodOf(slot.slot_id), isWritten: isWritten(slot) };
    await host.wipeDisk(slot, wipe, {
      signal: wiping.signal,
      percent: (percent) =>
        wiping.percent((index * 100 + percent) / slots.length, `Wiping ${slot.nvme_serial}`),
    });
  }

  const wipes: Wipe[] = [];
  const verifying = context.stage('verify', 'Reading the disks back');
  for (const [index, slot] of slots.entries()) {
    const proof = await host.verifyWipe(slot, depth, {
      signal: verifying.signal,
      percent: (percent) =>
        verifying.percent((index * 100 + percent) / slots.length, `Reading ${slot.nvme_serial}`),
    });
    const reset = resets.get(slot.slot_id);
    wipes.push({
      slot_id: slot.slot_id,
      device_serial: slot.nvme_serial,
      method: isWiped(slot) ? methodOf(slot.slot_id) : NOT_WRITTEN,
      verified: proof.verified && reset?.done !== false,
      verification: (reset ? `${proof.verification}; ${reset.evidence}` : proof.verification).slice(0, 500),
      tools: [{ name: 'gpuaas-node-agent', version: AGENT_VERSION }, ...proof.tools],
      started_at: started.get(slot.slot_id) ?? new Date().toISOString(),
      finished_at: new Date().toISOString(),
    });
  }

  if (network_clean) {
    // The platform sells each proven slot again, also while another slot of the machine is not proven.
    for (const { slot_id, device_serial } of wipes.filter(({ verified }) => verified)) {
      await forgetWrittenDisk(tools.dir, allocation_id, device_serial);
      await leases.drop([slot_id], allocation_id);
    }
  }
  const dirty = wipes.filter((wipe) => !wipe.verified);
  if (dirty.length > 0) {
    const detail = dirty.map((wipe) => `${wipe.device_serial}: ${wipe.verification}`).join('; ');
    throw new TaskError('wipe_not_verified', detail, { ...done, wipes });
  }
  if (!network_clean) {
    const detail = `still on the host: ${residue.join(', ')}`;
    throw new TaskError('network_not_clean', detail, { ...done, wipes });
  }
  return { ...done, wipes };
};
