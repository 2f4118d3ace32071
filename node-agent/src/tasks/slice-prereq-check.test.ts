import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseTaskOutput, type TaskParams } from '@gpuaas/contracts/tasks';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openTestHost, type TestHost } from '../testing/simulated-host.ts';
import { checkSlicePrerequisites } from './slice-prereq-check.ts';

let machine: TestHost;
beforeEach(async () => {
  machine = await openTestHost();
});
afterEach(() => machine.close());

async function check(demand: TaskParams['slice.prereq_check'] = {}) {
  const report = await checkSlicePrerequisites(demand, machine, machine.context);
  return parseTaskOutput('slice.prereq_check', report);
}

it('a simulated host is ready', async () => {
  expect(await check()).toMatchObject({ ready: true, reboot_required: false });
  expect(machine.stages).toEqual(['check']);
});

it('a fault shows as a miss with its remedy', async () => {
  await writeFile(join(machine.dir, 'faults'), 'iommu_off reboot_required');
  const report = await check();
  expect(report).toMatchObject({ ready: false, reboot_required: true });
  const misses = report.checks.filter(({ state }) => state !== 'ok');
  expect(misses.map(({ id }) => id)).toEqual(['iommu', 'reboot_required']);
  expect(misses.every(({ remedy }) => remedy)).toBe(true);
});

it('a profile that asks for more hugepages than there are is a miss', async () => {
  const hugepages = (await check({ hugepages_gib: 4_000 })).checks.find(({ id }) => id === 'hugepages');
  expect(hugepages).toMatchObject({ state: 'missing', evidence: expect.stringContaining('4000 GiB') });
});
