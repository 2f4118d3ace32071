import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { IngressRule } from '@gpuaas/contracts/tasks';
import { ensureFolder, readJson, removeDurable, writeDurable } from '../../../durable-file.ts';

/** Network settings of one machine. */
export interface SlicePort {
  allocation_id: string;
  mac: string;
  ip: string;
  ovs_port: string;
  /** Forwardings from outside. */
  ingress?: IngressRule[];
}

/**
 * The node-local address book: one file per management MAC. DHCP, flows and NAT rules are generated from it.
 */
export interface SlicePorts {
  list(): Promise<SlicePort[]>;
  add(port: SlicePort): Promise<void>;
  remove(macs: readonly string[]): Promise<void>;
}

export function openSlicePorts(dir: string): SlicePorts {
  const folder = join(dir, 'network');
  const fileOf = (mac: string): string => join(folder, `${mac.replaceAll(':', '')}.json`);
  return {
    async list() {
      await ensureFolder(folder);
      const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
      const ports = await Promise.all(names.map((name) => readJson<SlicePort>(join(folder, name))));
      return ports.filter((port) => port !== null);
    },
    async add(port) {
      await ensureFolder(folder);
      await writeDurable(fileOf(port.mac), `${JSON.stringify(port)}\n`);
    },
    async remove(macs) {
      await ensureFolder(folder);
      for (const mac of macs) await removeDurable(fileOf(mac));
    },
  };
}
