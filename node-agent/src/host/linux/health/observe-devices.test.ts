import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hgxH200 } from '../../simulated/host-tree/hgx-h200.ts';
import { makeTreeFolder } from '../../../testing/tree-folder.ts';
import { writeHostTree } from '../../simulated/host-tree/write-host-tree.ts';
import type { RunCommand } from '../commands.ts';
import { readGpuFaults, cachedGpuFaults } from './gpu-health.ts';
import { openLinuxHost } from '../linux-host.ts';
import { readLinuxSettings } from '../settings.ts';

let root: string;
beforeEach(async () => {
  root = await makeTreeFolder();
});
afterEach(() => rm(root, { recursive: true }));

const answering =
  (answers: Record<string, string>): RunCommand =>
  (tool) =>
    Promise.resolve(answers[tool] === undefined ? null : { code: 0, stdout: answers[tool], stderr: '' });

async function observe(answers: Record<string, string>, lost: number[] = []) {
  writeHostTree(root, hgxH200({ lost }));
  const { gpus } = await openLinuxHost({
    settings: { ...readLinuxSettings({}), root },
    run: answering(answers),
    hostname: 'hgx-01',
  }).observeDevices();
  return gpus ?? [];
}

it('every GPU is well where neither bus, kernel nor driver says otherwise', async () => {
  const gpus = await observe({});
  expect(gpus).toHaveLength(8);
  expect(gpus.every(({ state }) => state === 'ok')).toBe(true);
});

it('an Xid of the device marks it as failing; one of an application does not', async () => {
  const [first, second] = (await observe({})).map(({ pci_address }) => pci_address);
  const line = (address: string, code: number) => `NVRM: Xid (PCI:${address.slice(0, -2)}): ${code}, pid=77`;
  const log = [line(first!, 13), line(first!, 31), line(second!, 43), line(second!, 48)].join('\n');
  const gpus = await observe({ journalctl: log });
  expect(gpus.find(({ pci_address }) => pci_address === first)).toMatchObject({ state: 'ok' });
  expect(gpus.find(({ pci_address }) => pci_address === second)).toMatchObject({
    state: 'failing',
    detail: 'XID 48: double-bit ECC error',
  });
});

it('a GPU that does not answer on the bus is lost, regardless of the log', async () => {
  const gpus = await observe({}, [1]);
  expect(gpus.filter(({ state }) => state === 'lost')).toHaveLength(1);
});

it('reads the driver’s status, in the driver’s address format', async () => {
  const driver = ['00000000:1B:00.0, No, 0', '00000000:43:00.0, Yes, 0', '00000000:52:00.0, No, 3', ''];
  expect([...(await readGpuFaults(answering({ 'nvidia-smi': driver.join('\n') })))]).toEqual([
    ['0000:43:00.0', 'a memory row could not be remapped'],
    ['0000:52:00.0', '3 uncorrected ECC errors since boot'],
  ]);
  const without = await readGpuFaults(answering({ 'nvidia-smi': '00000000:1B:00.0, [N/A], [N/A]\n' }));
  expect(without.size).toBe(0);
});

it('reads the log again after half a minute, not with each heartbeat', async () => {
  let now = 0;
  let reads = 0;
  const run: RunCommand = (tool) => {
    if (tool === 'journalctl') reads += 1;
    return Promise.resolve(null);
  };
  const faults = cachedGpuFaults(run, () => now);
  await faults();
  now = 29_000;
  await faults();
  expect(reads).toBe(1);
  now = 30_000;
  await faults();
  expect(reads).toBe(2);
});
