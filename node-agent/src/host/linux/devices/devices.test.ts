import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeFabric } from '../../../testing/fake-fabric.ts';
import { FakeKernel } from '../../../testing/fake-kernel.ts';
import { silentLog } from '../../../testing/simulated-host.ts';
import { slotBundles } from '../../../testing/slots.ts';
import { makeTreeFolder } from '../../../testing/tree-folder.ts';
import { hgxH200 } from '../../simulated/host-tree/hgx-h200.ts';
import { writeHostTree } from '../../simulated/host-tree/write-host-tree.ts';
import type { CommandResult, RunCommand } from '../commands.ts';
import { openLinuxHost, type LinuxHost } from '../linux-host.ts';
import { readLinuxSettings } from '../settings.ts';

const GPUS = ['1b', '43', '52', '61', '9d', 'c3', 'd1', 'df'].map((bus) => `0000:${bus}:00.0`);
const ADAPTERS = ['18', '40', '4f', '5e', '9a', 'c0', 'ce', 'dc'].map((bus) => `0000:${bus}:00.0`);
const FUNCTIONS = ADAPTERS.map((adapter) => adapter.replace(/0$/, '1'));
const step = { signal: new AbortController().signal, percent: () => undefined };

let root: string;
let dir: string;
let kernel: FakeKernel;
let fabric: FakeFabric;
let answers: Record<string, CommandResult>;
const run: RunCommand = (tool, args) =>
  Promise.resolve(tool === 'ip' ? fabric.ip(args) : (answers[tool] ?? null));

beforeEach(async () => {
  root = await makeTreeFolder();
  dir = await mkdtemp(join(tmpdir(), 'gpuaas-devices-'));
  answers = {};
  writeHostTree(root, hgxH200());
  use('driver');
});

/** Which driver the adapters have decides how functions are named. */
function use(way: 'driver' | 'interface'): void {
  fabric = new FakeFabric(root, way, ADAPTERS);
  kernel = new FakeKernel(root, ['vfio-pci', 'nvidia', 'mlx5_core'], fabric);
  for (const adapter of ADAPTERS) fabric.set(adapter, kernel.functionsOf(adapter).length);
}
afterEach(async () => {
  for (const folder of [root, `${root}.asleep`, dir]) await rm(folder, { recursive: true, force: true });
});

function host(env: Record<string, string> = {}): LinuxHost {
  const settings = { ...readLinuxSettings(env), root };
  return openLinuxHost({ settings, run, write: kernel.write, hostname: 'hgx-01', dir });
}

const driversOf = (addresses: readonly string[]) => [
  ...new Set(addresses.map((one) => kernel.driverOf(one))),
];

describe('setting a mode', () => {
  it('creates a function for each GPU for slices and binds both to vfio-pci; adapters stay with the host', async () => {
    kernel.reboot();
    const evidence = await host().setMode('slice', step);
    expect(evidence).toBe('8 GPUs are bound to vfio-pci; 8 virtual functions of 8 adapters too');
    expect(ADAPTERS.flatMap((adapter) => kernel.functionsOf(adapter))).toEqual(FUNCTIONS);
    expect(driversOf([...GPUS, ...FUNCTIONS])).toEqual(['vfio-pci']);
    expect(driversOf(ADAPTERS)).toEqual(['mlx5_core']);
  });

  it('removes functions before adapters for baremetal and binds GPUs to their driver', async () => {
    await host().setMode('slice', step);
    const evidence = await host().setMode('baremetal', step);
    expect(evidence).toBe('8 GPUs are bound to nvidia; 8 adapters have no virtual function');
    expect(driversOf(GPUS)).toEqual(['nvidia']);
    expect(ADAPTERS.flatMap((adapter) => kernel.functionsOf(adapter))).toEqual([]);
    expect(driversOf(ADAPTERS)).toEqual(['mlx5_core']);
  });

  it('changes nothing in the current mode', async () => {
    await host().setMode('slice', step);
    kernel.writes.length = 0;
    await host().setMode('slice', step);
    expect(kernel.writes).toEqual([]);
  });

  it('continues where it was interrupted', async () => {
    kernel.reboot();
    const cut = new AbortController();
    const percent = (at: number): void => void (at > 60 && cut.abort());
    await expect(host().setMode('slice', { signal: cut.signal, percent })).rejects.toThrow();
    expect(driversOf(GPUS)).toHaveLength(2);
    await host().setMode('slice', step);
    expect(driversOf(GPUS)).toEqual(['vfio-pci']);
  });

  it('is refused while a program computes, and when the adapter cannot have enough functions', async () => {
    kernel.reboot();
    mkdirSync(join(root, 'proc/4242/fd'), { recursive: true });
    writeFileSync(join(root, 'proc/4242/comm'), 'python3\n');
    symlinkSync('/dev/nvidia3', join(root, 'proc/4242/fd/7'));
    await expect(host().setMode('slice', step)).rejects.toMatchObject({
      code: 'mode_refused',
      message: 'GPUs are in use by python3 (pid 4242)',
    });
    await rm(join(root, 'proc/4242'), { recursive: true });
    writeFileSync(join(root, 'sys/bus/pci/devices', ADAPTERS[0]!, 'sriov_totalvfs'), '0\n');
    for (const adapter of ADAPTERS.slice(1))
      writeFileSync(join(root, 'sys/bus/pci/devices', adapter, 'sriov_totalvfs'), '1\n');
    await expect(host().setMode('slice', step)).rejects.toMatchObject({ code: 'functions_failed' });
  });

  it('names the missing driver', async () => {
    await rm(join(root, 'sys/bus/pci/drivers/nvidia'), { recursive: true });
    await expect(host().setMode('baremetal', step)).rejects.toMatchObject({
      code: 'bind_failed',
      message: `the driver nvidia for ${GPUS[0]} is not loaded on this host`,
    });
  });
});

describe('after a boot', () => {
  it('functions are created and devices bound again', async () => {
    await host().setMode('slice', step);
    kernel.reboot();
    expect(driversOf(GPUS)).toEqual(['nvidia']);
    await host().recover(silentLog);
    expect(driversOf([...GPUS, ...FUNCTIONS])).toEqual(['vfio-pci']);
  });

  it('a baremetal host is left alone', async () => {
    await host().setMode('baremetal', step);
    kernel.reboot();
    kernel.writes.length = 0;
    await host().recover(silentLog);
    expect(kernel.writes).toEqual([]);
  });

  it('a failing device does not stop the others', async () => {
    await host().setMode('slice', step);
    kernel.reboot();
    await rm(join(root, 'sys/bus/pci/devices', GPUS[0]!), { recursive: true });
    await host().recover(silentLog);
    expect(driversOf(GPUS.slice(1))).toEqual(['vfio-pci']);
  });
});

describe('a reset', () => {
  const slots = slotBundles('hgx-01', [0, 1]).map((slot, index) => ({
    ...slot,
    gpu_pci_address: GPUS[index]!,
    fabric_vf_pci_address: FUNCTIONS[index]!,
  }));

  it('goes to the function and then to the GPU of each slot', async () => {
    const resets = await host().resetDevices(slots, step);
    expect(kernel.resets).toEqual([FUNCTIONS[0], GPUS[0], FUNCTIONS[1], GPUS[1]]);
    expect([...resets.values()].every(({ done }) => done)).toBe(true);
    expect(resets.get(slots[0]!.slot_id)?.evidence).toContain(`${GPUS[0]} reset by flr`);
  });

  it('leaves only its slot unclean if the kernel refuses it', async () => {
    kernel.stubborn.add(GPUS[1]!);
    const resets = await host().resetDevices(slots, step);
    expect(slots.map(({ slot_id }) => resets.get(slot_id)?.done)).toEqual([true, false]);
    expect(resets.get(slots[1]!.slot_id)?.evidence).toContain('ENOTTY');
  });

  it('is followed by the configured scrubber, whose result counts', async () => {
    const scrubbing = host({ GPUAAS_LINUX_SCRUB_COMMAND: '/usr/local/sbin/scrub-gpu' });
    const failing = await scrubbing.resetDevices(slots, step);
    expect(failing.get(slots[0]!.slot_id)).toMatchObject({ done: false });
    answers['/usr/local/sbin/scrub-gpu'] = { code: 3, stdout: '', stderr: 'row 7 kept its value' };
    const dirty = await scrubbing.resetDevices(slots, step);
    expect(dirty.get(slots[0]!.slot_id)?.evidence).toContain('row 7 kept its value');
    answers['/usr/local/sbin/scrub-gpu'] = { code: 0, stdout: '', stderr: '' };
    const clean = await scrubbing.resetDevices(slots, step);
    expect(clean.get(slots[0]!.slot_id)).toMatchObject({ done: true });
  });
});
