import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SlotBundle } from '@gpuaas/contracts/tasks';
import { ensureFolder, removeDurable, writeDurable } from '../../durable-file.ts';

/** The leases and ports that the machine's network knows: one file per management MAC. */
export interface SimulatedNetwork {
  plug(slot: SlotBundle, allocationId: string): Promise<void>;
  unplug(slots: readonly SlotBundle[]): Promise<void>;
  isClean(slots: readonly SlotBundle[]): Promise<boolean>;
}

export function openNetwork(dir: string): SimulatedNetwork {
  const folder = join(dir, 'network');
  const fileOf = (slot: SlotBundle): string => `${slot.management_mac.replaceAll(':', '')}.json`;
  return {
    async plug(slot, allocation_id) {
      await ensureFolder(folder);
      const lease = { allocation_id, ip: slot.private_ip, ovs_port: slot.ovs_port };
      await writeDurable(join(folder, fileOf(slot)), `${JSON.stringify(lease)}\n`);
    },
    async unplug(slots) {
      await ensureFolder(folder);
      for (const slot of slots) await removeDurable(join(folder, fileOf(slot)));
    },
    async isClean(slots) {
      const left = new Set(await readdir(folder).catch(() => []));
      return !slots.some((slot) => left.has(fileOf(slot)));
    },
  };
}
