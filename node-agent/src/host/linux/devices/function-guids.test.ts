import { mkdtemp, rm } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeFabric } from '../../../testing/fake-fabric.ts';
import { FakeKernel } from '../../../testing/fake-kernel.ts';
import { silentLog } from '../../../testing/simulated-host.ts';
import { makeTreeFolder } from '../../../testing/tree-folder.ts';
import { hgxH200 } from '../../simulated/host-tree/hgx-h200.ts';
import { writeHostTree } from '../../simulated/host-tree/write-host-tree.ts';
import type { RunCommand } from '../commands.ts';
import { openLinuxHost, type LinuxHost } from '../linux-host.ts';
import { readLinuxSettings } from '../settings.ts';
import { readDeviceBindings } from './device-bindings.ts';

const ADAPTERS = ['0000:18:00.0', '0000:9a:00.0'];
const FUNCTION = '0000:18:00.1';
const OF_OPERATOR = { node: '00:11:22:33:44:55:66:00', port: '00:11:22:33:44:55:66:01' };
/**
 * Of adapter 0000:18:00.0, whose own GUID is b83f:d203:0001:8000. Must never change: fabrics identify
 * machines by it.
 */
const DERIVED = { node: '1a:0c:a5:8e:54:8b:62:e6', port: '1e:74:e8:50:b5:63:c8:df' };
const step = { signal: new AbortController().signal, percent: () => undefined };

let root: string;
let dir: string;
let fabric: FakeFabric;
let kernel: FakeKernel;
const run: RunCommand = (tool, args) => Promise.resolve(tool === 'ip' ? fabric.ip(args) : null);

beforeEach(async () => {
  root = await makeTreeFolder();
  dir = await mkdtemp(join(tmpdir(), 'gpuaas-guids-'));
  writeHostTree(root, hgxH200({ gpus: 2, virtualFunctions: 1 }));
});
afterEach(async () => {
  for (const folder of [root, `${root}.asleep`, dir]) await rm(folder, { recursive: true, force: true });
});

function use(way: 'driver' | 'interface'): LinuxHost {
  fabric = new FakeFabric(root, way, ADAPTERS);
  kernel = new FakeKernel(root, ['vfio-pci', 'nvidia', 'mlx5_core'], fabric);
  return host();
}

function host(): LinuxHost {
  const settings = { ...readLinuxSettings({}), root };
  return openLinuxHost({ settings, run, write: kernel.write, hostname: 'hgx-01', dir });
}

describe.each(['driver', 'interface'] as const)('functions of an InfiniBand adapter, by its %s', (way) => {
  it('get unique GUIDs from adapter and number, and follow its port', async () => {
    use(way);
    kernel.reboot();
    await host().setMode('slice', step);
    expect(fabric.guidsOf(ADAPTERS[0]!)).toEqual([{ ...DERIVED, state: 'auto' }]);
    const all = ADAPTERS.flatMap((adapter) =>
      fabric.guidsOf(adapter).flatMap(({ node, port }) => [node, port]),
    );
    expect(new Set(all).size).toBe(4);
    // Given locally, and not to a group.
    for (const guid of all) expect(Number.parseInt(guid.slice(0, 2), 16) & 3).toBe(2);
    expect(kernel.driverOf(FUNCTION)).toBe('vfio-pci');
  });

  it('keep their GUIDs after a boot, also those that an operator set', async () => {
    await use(way).setMode('slice', step);
    fabric.name(ADAPTERS[1]!, 0, OF_OPERATOR);
    await host().setMode('slice', step);
    kernel.reboot();
    expect(fabric.guidsOf(ADAPTERS[0]!)).toEqual([]);
    await host().recover(silentLog);
    expect(fabric.guidsOf(ADAPTERS[0]!)).toEqual([{ ...DERIVED, state: 'auto' }]);
    expect(fabric.guidsOf(ADAPTERS[1]!)).toEqual([{ ...OF_OPERATOR, state: 'auto' }]);
  });

  it('get GUIDs even if created at boot by another service', async () => {
    await use(way).setMode('slice', step);
    fabric.set(ADAPTERS[0]!, 1);
    await host().recover(silentLog);
    expect(fabric.guidsOf(ADAPTERS[0]!)).toEqual([{ ...DERIVED, state: 'auto' }]);
  });

  it('keep existing GUIDs: a guest may use them', async () => {
    await use(way).setMode('slice', step);
    fabric.name(ADAPTERS[0]!, 0, OF_OPERATOR);
    kernel.writes.length = 0;
    fabric.commands.length = 0;
    await host().recover(silentLog);
    expect([...kernel.writes, ...fabric.commands]).toEqual([]);
  });

  it('are not passed through if they reject their GUID', async () => {
    await use(way).setMode('slice', step);
    kernel.reboot();
    fabric.deaf.add(`${ADAPTERS[0]} 0`);
    await host().recover(silentLog);
    expect(kernel.driverOf(FUNCTION)).toBeNull();
    expect(kernel.driverOf('0000:9a:00.1')).toBe('vfio-pci');
    await expect(host().setMode('slice', step)).rejects.toMatchObject({
      code: 'functions_failed',
      message: expect.stringContaining('do not take their GUIDs'),
    });
  });
});

it('a function gets its GUID before it is bound, through the driver’s files', async () => {
  use('driver');
  kernel.reboot();
  await host().setMode('slice', step);
  const of = `${ADAPTERS[0]}/sriov/0`;
  const named = kernel.writes.filter((line) => line.startsWith(of));
  expect(named).toEqual([`${of}/node ${DERIVED.node}`, `${of}/port ${DERIVED.port}`, `${of}/policy Follow`]);
  expect(kernel.writes.indexOf(named[2]!)).toBeLessThan(kernel.writes.indexOf(`drivers_probe ${FUNCTION}`));
});

it('a function gets its GUID through the port’s interface, not that of a partition', async () => {
  use('interface');
  kernel.reboot();
  await host().setMode('slice', step);
  expect(fabric.commands.slice(0, 3)).toEqual([
    `set dev ib0 vf 0 node_guid ${DERIVED.node}`,
    `set dev ib0 vf 0 port_guid ${DERIVED.port}`,
    'set dev ib0 vf 0 state auto',
  ]);
});

it('a note of an older agent restores functions, with derived GUIDs', async () => {
  await use('driver').setMode('slice', step);
  const { guids: _unknown, ...older } = (await readDeviceBindings(dir))!;
  writeFileSync(join(dir, 'devices.json'), JSON.stringify(older));
  kernel.reboot();
  await host().recover(silentLog);
  expect(fabric.guidsOf(ADAPTERS[0]!)).toMatchObject([DERIVED]);
});

it('Ethernet adapters have no GUIDs', async () => {
  use('interface');
  for (const index of [0, 1])
    writeFileSync(join(root, `sys/class/infiniband/mlx5_${index}/ports/1/link_layer`), 'Ethernet\n');
  kernel.reboot();
  await host().setMode('slice', step);
  expect(fabric.commands).toEqual([]);
});

it('a host that cannot set GUIDs names the missing driver', async () => {
  use('interface');
  for (const adapter of ADAPTERS)
    await rm(join(root, 'sys/bus/pci/devices', adapter, 'net'), { recursive: true });
  kernel.reboot();
  await expect(host().setMode('slice', step)).rejects.toMatchObject({
    code: 'functions_failed',
    message: expect.stringContaining('load ib_ipoib'),
  });
});
