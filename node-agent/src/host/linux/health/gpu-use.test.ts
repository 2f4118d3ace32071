import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeKernel } from '../../../testing/fake-kernel.ts';
import { makeTreeFolder } from '../../../testing/tree-folder.ts';
import { hgxH200 } from '../../simulated/host-tree/hgx-h200.ts';
import { writeHostTree } from '../../simulated/host-tree/write-host-tree.ts';
import type { RunCommand } from '../commands.ts';
import { openLinuxHost } from '../linux-host.ts';
import { readLinuxSettings } from '../settings.ts';

let root: string;
let asked: string[][];
/** As nvidia-smi 570 prints it; one GPU reports no value. */
const ANSWER = ['00000000:1B:00.0, 97', '00000000:43:00.0, 0', '00000000:52:00.0, [N/A]', ''].join('\n');
const run: RunCommand = (tool, args) => {
  if (tool !== 'nvidia-smi' || !args.join(' ').includes('utilization.gpu')) return Promise.resolve(null);
  asked.push([...args]);
  return Promise.resolve({ code: 0, stdout: ANSWER, stderr: '' });
};

beforeEach(async () => {
  asked = [];
  root = await makeTreeFolder();
  writeHostTree(root, hgxH200());
});
afterEach(async () => {
  await rm(root, { recursive: true });
  await rm(`${root}.asleep`, { recursive: true, force: true });
});

async function observe(): Promise<Map<string, number | undefined>> {
  const settings = { ...readLinuxSettings({}), root };
  const { gpus } = await openLinuxHost({ settings, run, hostname: 'hgx-01' }).observeDevices();
  return new Map(gpus.map((gpu) => [gpu.pci_address, gpu.utilisation_percent ?? undefined]));
}

it('reports the utilisation of GPUs that the host itself uses', async () => {
  new FakeKernel(root, ['nvidia']).reboot();
  const use = await observe();
  expect([use.get('0000:1b:00.0'), use.get('0000:43:00.0'), use.get('0000:52:00.0')]).toEqual([
    97,
    0,
    undefined,
  ]);
});

it('omits GPUs in slices, and queries no driver without GPUs', async () => {
  const use = await observe();
  expect([...use.values()].every((busy) => busy === undefined)).toBe(true);
  expect(asked).toEqual([]);
});

it('reads the utilisation of an AMD GPU from sysfs', async () => {
  const tree = hgxH200();
  const gpu = '0000:1b:00.0';
  writeHostTree(root, tree);
  await writeFile(join(root, 'sys/bus/pci/devices', gpu, 'vendor'), '0x1002\n');
  await writeFile(join(root, 'sys/bus/pci/devices', gpu, 'device'), '0x74a1\n');
  await writeFile(join(root, 'sys/bus/pci/devices', gpu, 'gpu_busy_percent'), '63\n');
  const kernel = new FakeKernel(root, ['amdgpu']);
  await kernel.write(`/sys/bus/pci/devices/${gpu}/driver_override`, 'amdgpu');
  await kernel.write('/sys/bus/pci/drivers/vfio-pci/unbind', gpu);
  await kernel.write('/sys/bus/pci/drivers_probe', gpu);
  expect((await observe()).get(gpu)).toBe(63);
});
