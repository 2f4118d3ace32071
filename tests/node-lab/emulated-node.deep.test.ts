import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bootNode,
  DATA_BYTES,
  DATA_SERIAL,
  createDisks,
  type EmulatedNode,
} from '@gpuaas/lab/emulated-node/boot-node';
import { buildInitrd } from '@gpuaas/lab/emulated-node/build-initrd';
import { fetchKernel } from '@gpuaas/lab/vm/debian-kernel';
import { labCache } from '../harness/fleet/vm-host.ts';
import { whyNoEmulatedNode } from '../harness/fleet/vm-lab-needs.ts';
import type { NodeReport, SeenDevice } from './node-report.ts';

const BOOT_MS = 240_000;
/** Devices that the driver does not know are listed for it, as an administrator would. */
const PCI_DEVICES = [
  '1af4:1044 gpu Emulated-GPU virtio-pci',
  '1b36:0010 fabric Emulated-Adapter nvme',
  '',
].join('\n');
/** A libvirt without machines, which is all that the wipe of a free disk asks of it. */
const VIRSH = '#!/bin/sh\nexit 0\n';

const obstacle = whyNoEmulatedNode();

describe.skipIf(obstacle !== null)(
  `the driver in an emulated node (${obstacle ?? 'needs nothing more'})`,
  () => {
    let folder: string;
    let node: EmulatedNode;
    let first: Extract<NodeReport, { boot: 'first' }>;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'gpuaas-node-lab-'));
      const program = join(folder, 'program.cjs');
      const input = fileURLToPath(new URL('guest-main.ts', import.meta.url));
      const bundle = await rolldown({ input, platform: 'node', external: [/\.node$/, 'cpu-features'] });
      await bundle.write({ file: program, format: 'cjs', codeSplitting: false });
      await bundle.close();
      const { kernel, initrd } = buildInitrd(folder, fetchKernel(labCache()), {
        program,
        files: {
          'etc/gpuaas/pci-devices': { content: PCI_DEVICES },
          'usr/bin/virsh': { content: VIRSH, executable: true },
        },
      });
      createDisks(folder);
      node = { kernel, initrd, folder };
      first = await boot('first');
    }, BOOT_MS + 60_000);
    afterAll(() => folder && rmSync(folder, { recursive: true, force: true }));

    async function boot<B extends NodeReport['boot']>(which: B): Promise<Extract<NodeReport, { boot: B }>> {
      const output = await bootNode(node, BOOT_MS);
      const line = /^REPORT (.*)$/m.exec(output)?.[1];
      if (!line) throw new Error(`the node reported nothing:\n${output.slice(-4000)}`);
      const report = JSON.parse(line) as NodeReport;
      expect(report.boot).toBe(which);
      return report as Extract<NodeReport, { boot: B }>;
    }

    const drivers = (devices: readonly SeenDevice[]): string[] =>
      devices.map(({ role, driver }) => `${role} ${driver}`).toSorted();

    it('finds the GPU with the disk beside it, and says why the adapter has nothing to offer', () => {
      expect(first.candidate).toMatchObject({
        gpu_model: 'Emulated-GPU',
        gpu_driver: 'virtio-pci',
        numa_node: 0,
        nvme_serial: DATA_SERIAL,
        nvme_size_bytes: DATA_BYTES,
        nvme_locality: 'same_root',
        nvme_mounts: [],
      });
      expect(first.leftOut).toContainEqual(expect.stringMatching(/ fabric_no_vfs$/));
      // The disk that the node keeps its state on is never offered.
      expect(first.leftOut).toContainEqual(expect.stringMatching(/STATE boot_disk$/));
    });

    it('creates functions and binds GPU and functions to vfio-pci, each in its own group', () => {
      expect(first.evidence).toBe('1 GPUs are bound to vfio-pci; 1 virtual functions of 1 adapters too');
      expect(drivers(first.bound)).toEqual(['adapter nvme', 'function vfio-pci', 'gpu vfio-pci']);
      expect(first.vfioGroups).toBe(2);
    });

    it('resets the devices of a slot', () => {
      expect(first.reset?.evidence).toMatch(/^\S+ reset by \w+; \S+ reset by \w+$/);
      expect(first.reset?.done).toBe(true);
    });

    it('wipes the disk, and sees the difference', () => {
      expect(first.wipe.before).toMatchObject({ verified: false });
      expect(first.wipe.after).toMatchObject({ verified: true });
      expect(first.wipe.after.verification).toContain(`all ${DATA_BYTES} bytes`);
    });

    it('wipes it by a command of the drive, and believes no drive that does not know one', () => {
      expect(first.wipe.dirtied).toMatchObject({ verified: false });
      expect(first.wipe.formatted).toMatchObject({ verified: true });
      // The emulated drive formats, but has no sanitize.
      expect(first.wipe.sanitize).toMatch(/^wipe_failed: nvme failed: /);
    });

    it('meets the refusals that the kernel of the fast tests has', () => {
      expect(first.refusals.otherNumber).toBe('EBUSY');
      expect(first.refusals.adapterToVfio).toMatch(/no driver$/);
    });

    it(
      'makes and binds everything again after a reboot, and gives it back for baremetal',
      async () => {
        const second = await boot('second');
        expect(drivers(second.found)).toEqual(['adapter nvme', 'gpu virtio-pci']);
        expect(drivers(second.restored)).toEqual(['adapter nvme', 'function vfio-pci', 'gpu vfio-pci']);
        expect(drivers(second.returned)).toEqual(['adapter nvme', 'gpu virtio-pci']);
      },
      BOOT_MS + 30_000,
    );
  },
);
