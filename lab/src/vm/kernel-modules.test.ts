import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { modulesInLoadOrder } from './kernel-modules.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'gpuaas-modules-'))));
afterEach(() => rmSync(folder, { recursive: true }));

function module(path: string, ...needs: string[]): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  const facts = ['license=GPL', `depends=${needs.join(',')}`, 'retpoline=Y', ''];
  writeFileSync(join(folder, path), `\x7fELF\0${facts.join('\0')}`);
}

it('modules come after their dependencies', () => {
  module('drivers/virtio/virtio_ring.ko');
  module('drivers/virtio/virtio.ko', 'virtio_ring');
  module('drivers/virtio/virtio_pci.ko', 'virtio', 'virtio_ring');
  module('drivers/vfio/vfio-pci-core.ko', 'irqbypass');
  module('drivers/vfio/vfio-pci.ko', 'vfio-pci-core');
  module('drivers/block/virtio_blk.ko', 'virtio', 'virtio_ring');
  const order = modulesInLoadOrder(folder, ['virtio_pci', 'virtio_blk', 'vfio_pci']).map((file) =>
    basename(file),
  );
  expect(order).toEqual([
    'virtio_ring.ko',
    'virtio.ko',
    'virtio_pci.ko',
    'virtio_blk.ko',
    'vfio-pci-core.ko',
    'vfio-pci.ko',
  ]);
});

it('a missing module is named in the error', () => {
  expect(() => modulesInLoadOrder(folder, ['isofs'])).toThrow('there is no module isofs');
});
