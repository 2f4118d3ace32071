import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { IngressRule, SlotBundle } from '@gpuaas/contracts/tasks';
import type { SlicePort } from '../linux/network/slice-ports.ts';
import { SerialQueue } from '../../tasks/serial-queue.ts';
import { ensureFolder, readJson, removeDurable, writeDurable } from '../../durable-file.ts';

/** The leases and ports of the machine's network: one file per management MAC. */
export interface SimulatedNetwork {
  plug(slot: SlotBundle, allocationId: string): Promise<void>;
  unplug(slots: readonly SlotBundle[]): Promise<void>;
  /** Machines that have an address here. */
  ports(): Promise<SlicePort[]>;
  /** The address a MAC has now. */
  leaseOf(mac: string): Promise<string | null>;
  /** Forwardings to the machine of an allocation; null when it has no lease here. */
  ingress(allocationId: string): Promise<IngressRule[] | null>;
  setIngress(allocationId: string, rules: readonly IngressRule[]): Promise<void>;
  /** Leftovers of the slots. */
  residue(slots: readonly SlotBundle[]): Promise<string[]>;
}

interface Lease extends SlicePort {
  /** The address that the guest has; null when its lease ran out. */
  leased_ip: string | null;
}

/** Files of older agents name the MAC only in their name, and every lease in them is bound. */
type StoredLease = Omit<Lease, 'mac' | 'leased_ip'> & Partial<Lease>;

async function readLease(file: string): Promise<Lease | null> {
  const stored = await readJson<StoredLease>(file);
  if (!stored) return null;
  const { mac = basename(file, '.json').replaceAll(/..(?=.)/g, '$&:'), leased_ip = stored.ip } = stored;
  return { ...stored, mac, leased_ip };
}

export function openNetwork(dir: string): SimulatedNetwork {
  const folder = join(dir, 'network');
  // Rules written after a release has removed the lease would bring the lease back.
  const inTurn = new SerialQueue();
  async function list(): Promise<{ file: string; lease: Lease }[]> {
    const names = await readdir(folder).catch(() => []);
    const files = names.filter((name) => name.endsWith('.json')).map((name) => join(folder, name));
    const found = await Promise.all(files.map(async (file) => ({ file, lease: await readLease(file) })));
    return found.flatMap(({ file, lease }) => (lease ? [{ file, lease }] : []));
  }
  async function find(allocationId: string): Promise<{ file: string; lease: Lease } | null> {
    return (await list()).find(({ lease }) => lease.allocation_id === allocationId) ?? null;
  }
  const fileOf = (slot: SlotBundle): string => `${slot.management_mac.replaceAll(':', '')}.json`;
  return {
    async plug(slot, allocation_id) {
      await ensureFolder(folder);
      const { management_mac: mac, private_ip: ip, ovs_port } = slot;
      const lease: Lease = { allocation_id, mac, ip, ovs_port, leased_ip: ip };
      await writeDurable(join(folder, fileOf(slot)), `${JSON.stringify(lease)}\n`);
    },
    async unplug(slots) {
      await ensureFolder(folder);
      await inTurn.run('write', async () => {
        for (const slot of slots) await removeDurable(join(folder, fileOf(slot)));
      });
    },
    ports: async () => (await list()).map(({ lease }) => lease),
    async leaseOf(mac) {
      return (await list()).find(({ lease }) => lease.mac === mac)?.lease.leased_ip ?? null;
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
