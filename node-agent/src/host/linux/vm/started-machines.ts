import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { TaskError } from '../../../tasks/task-error.ts';
import type { ObservedVm } from '../../host.ts';
import { machineProcesses, type MachineProcess } from './machine-processes.ts';
import { openSliceRecord, type SliceRecord } from './slice-record.ts';

/** Records when this process of the machine was first seen; repeated calls return the same time. */
export async function recordStart(
  record: SliceRecord,
  allocationId: string,
  address: string,
  bootId: string,
): Promise<{ started_at: string }> {
  const machine = machineProcesses().find((one) => one.allocation_id === allocationId);
  if (!machine) throw new TaskError('vm_missing', 'the machine no longer runs');
  const known = await record.read('started');
  if (known && known.bootId === bootId && isSame(known, machine)) return known;
  const { pid, startTicks } = machine;
  const started = { bootId, pid, startTicks, address, started_at: new Date().toISOString() };
  await record.write('started', started);
  return started;
}

/**
 * Every machine that was started here: running if the kernel lists it, stopped if only our record is left.
 */
export async function listMachines(dir: string, bootId: string): Promise<ObservedVm[]> {
  const processes = machineProcesses();
  const noted = await readdir(join(dir, 'slices')).catch(() => []);
  const ids = new Set([...noted, ...processes.map((machine) => machine.allocation_id)]);
  const seen = await Promise.all(
    [...ids].map(async (allocation_id): Promise<ObservedVm[]> => {
      const known = await openSliceRecord(dir, allocation_id).read('started');
      const machine = processes.find((one) => one.allocation_id === allocation_id);
      // No task started it: report it, with its time counted from now.
      if (!known)
        return machine ? [{ allocation_id, state: 'running', started_at: new Date().toISOString() }] : [];
      if (!machine) return [{ allocation_id, state: 'stopped', started_at: known.started_at }];
      const { started_at } = await recordStart(
        openSliceRecord(dir, allocation_id),
        allocation_id,
        known.address,
        bootId,
      );
      return [{ allocation_id, state: 'running', started_at }];
    }),
  );
  return seen.flat();
}

function isSame(known: { pid: number; startTicks: number }, machine: MachineProcess): boolean {
  return known.pid === machine.pid && known.startTicks === machine.startTicks;
}
