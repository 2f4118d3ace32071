import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HOSTNAME, openTestHost, type TestHost } from '../testing/simulated-host.ts';
import { provisionParams } from '../testing/slots.ts';
import { createKeyPair } from '../testing/ssh.ts';
import { reconcileSlices } from './slice-reconcile.ts';
import { provisionSliceVm } from './slice-vm-provision.ts';

vi.setConfig({ testTimeout: 20_000 });

let machine: TestHost;
beforeEach(async () => {
  machine = await openTestHost();
});
afterEach(() => machine.close());

async function compare(machines: ReturnType<typeof provisionParams>[]) {
  const desired = machines.map(({ allocation_id, slots }) => ({ allocation_id, slots }));
  const { findings } = await reconcileSlices({ machines: desired }, machine, machine.context);
  return findings.map(({ subject, state, allocation_id }) => `${subject} ${state} ${allocation_id}`);
}

it('finds nothing where host and platform agree, tells what is missing and what nobody knows, and removes nothing', async () => {
  const served = provisionParams(HOSTNAME, [0], [createKeyPair().public]);
  await provisionSliceVm(served, machine, machine.context);
  expect(await compare([served])).toEqual([]);

  const never = provisionParams(HOSTNAME, [1], [createKeyPair().public]);
  const id = served.allocation_id;
  expect(await compare([never])).toEqual([
    `lease missing ${never.allocation_id}`,
    `lease orphan ${id}`,
    `machine missing ${never.allocation_id}`,
    `machine orphan ${id}`,
  ]);
  expect(await compare([served])).toEqual([]);

  const thief = { ...served, allocation_id: never.allocation_id };
  expect(await compare([thief])).toContain(`lease wrong ${never.allocation_id}`);
});
