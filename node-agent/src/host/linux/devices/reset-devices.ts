import type { SlotBundle } from '@gpuaas/contracts/tasks';
import { errorMessage } from '../../../logger.ts';
import { commandError, type RunCommand } from '../commands.ts';
import { isLost } from '../inventory/gpus.ts';
import type { DeviceReset, HostOperation } from '../../host.ts';
import { deviceFolder, type Sysfs } from './sysfs.ts';

export interface ResetOptions {
  sysfs: Sysfs;
  run: RunCommand;
  /**
   * A program that scrubs the memory of the given GPUs and exits with 0 when that is proven; null for none.
   */
  scrubCommand: string | null;
}

const SCRUB_MS = 900_000;

/**
 * Resets the devices that the machine used, functions before the GPU, so that no register, queue or memory of
 * the last tenant reaches the next. Returns a result per slot and throws nothing: a slot that was not reset
 * is simply not clean.
 */
export async function resetDevices(
  { sysfs, run, scrubCommand }: ResetOptions,
  slots: readonly SlotBundle[],
  step: HostOperation,
): Promise<Map<string, DeviceReset>> {
  const resets = new Map<string, DeviceReset>();
  for (const slot of slots) {
    step.signal.throwIfAborted();
    const results = [
      await resetDevice(sysfs, slot.fabric_vf_pci_address),
      await resetDevice(sysfs, slot.gpu_pci_address),
    ];
    if (scrubCommand && results.every(({ done }) => done)) {
      results.push(await scrub(run, scrubCommand, slot.gpu_pci_address, step));
    }
    resets.set(slot.slot_id, {
      done: results.every(({ done }) => done),
      evidence: results.map(({ evidence }) => evidence).join('; '),
    });
  }
  return resets;
}

async function resetDevice({ files, write }: Sysfs, address: string): Promise<DeviceReset> {
  const at = deviceFolder(address);
  if (!files.exists(`${at}/reset`)) return { done: false, evidence: `${address} cannot be reset` };
  try {
    await write(`${at}/reset`, '1');
  } catch (error) {
    return { done: false, evidence: `${address} was not reset: ${errorMessage(error)}`.slice(0, 200) };
  }
  if (isLost(files, address)) return { done: false, evidence: `${address} does not answer after its reset` };
  const [method] = files.text(`${at}/reset_method`)?.split(' ') ?? [];
  return { done: true, evidence: `${address} reset by ${method ?? 'the kernel'}` };
}

async function scrub(
  run: RunCommand,
  command: string,
  gpu: string,
  step: HostOperation,
): Promise<DeviceReset> {
  const result = await run(command, [gpu], { timeoutMs: SCRUB_MS, signal: step.signal });
  if (result === null) return { done: false, evidence: `${command} is not on this host` };
  return result.code === 0
    ? { done: true, evidence: `memory of ${gpu} scrubbed` }
    : { done: false, evidence: `memory of ${gpu} not scrubbed: ${commandError(result)}`.slice(0, 200) };
}
