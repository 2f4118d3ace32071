import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { IngressRule, SlotBundle } from '@gpuaas/contracts/tasks';
import { SerialQueue } from '../../tasks/serial-queue.ts';
import { ensureFolder, readJson, removeDurable, writeDurable } from '../../durable-file.ts';

/** The leases and ports of the machine's network: one file per management MAC. */
export interface SimulatedNetwork {
  plug(slot: SlotBundle, allocationId: string): Promise<void>;
  unplug(slots: readonly SlotBundle[]): Promise<void>;
  /** Forwardings to the machine of an allocation; null when it has no lease here. */
  ingress(allocationId: string): Promise<IngressRule[] | null>;
  setIngress(allocationId: string, rules: readonly IngressRule[]): Promise<void>;
  /** Leftovers of the slots. */
  residue(slots: readonly SlotBundle[]): Promise<string[]>;
}

export function openNetwork(dir: string): SimulatedNetwork {
  const folder = join(dir, 'network');
  // Rules written after a release has removed the lease would bring the lease back.
  const inTurn = new SerialQueue();
  interface Lease {
    allocation_id: string;
    ingress?: IngressRule[];
  }
  async function find(allocationId: string): Promise<{ file: string; lease: Lease } | null> {
    for (const name of await readdir(folder).catch(() => [])) {
      const lease = name.endsWith('.json') ? await readJson<Lease>(join(folder, name)) : null;
      if (lease?.allocation_id === allocationId) return { file: join(folder, name), lease };
    }
    return null;
  }
  const fileOf = (slot: SlotBundle): string => `${slot.management_mac.replaceAll(':', '')}.json`;
  return {
    async plug(slot, allocation_id) {
      await ensureFolder(folder);
      const lease = { allocation_id, ip: slot.private_ip, ovs_port: slot.ovs_port };
      await writeDurable(join(folder, fileOf(slot)), `${JSON.stringify(lease)}\n`);
    },
    async unplug(slots) {
      await ensureFolder(folder);
      await inTurn.run('write', async () => {
        for (const slot of slots) await removeDurable(join(folder, fileOf(slot)));
      });
    },
    async ingress(allocationId) {
      const found = await find(allocationId);
      return found && (found.lease.ingress ?? []);
    },
    async setIngress(allocationId, rules) {
      await inTurn.run('write', async () => {
        const found = await find(allocationId);
        if (found) await writeDurable(found.file, `${JSON.stringify({ ...found.lease, ingress: rules })}\n`);
      });
    },
    async residue(slots) {
      const left = new Set(await readdir(folder).catch(() => []));
      const plugged = slots.filter((slot) => left.has(fileOf(slot)));
      return plugged.map(({ management_mac }) => `lease of ${management_mac}`);
    },
  };
}
