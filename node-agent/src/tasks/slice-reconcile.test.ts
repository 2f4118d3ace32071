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

type Launch = ReturnType<typeof provisionParams>;

const slotsOf = ({ allocation_id, slots }: Launch) => ({ allocation_id, slots });

async function compare(machines: Launch[], held: Launch[] = []) {
  const params = { machines: machines.map(slotsOf), held: held.map(slotsOf) };
  const { findings } = await reconcileSlices(params, machine, machine.context);
  return findings.map(({ subject, state, allocation_id }) => `${subject} ${state} ${allocation_id}`);
}

it('reports missing and unknown resources, removes nothing, and finds nothing if host and platform agree', async () => {
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

it('reports no orphan that the platform still claims or a task is changing', async () => {
  const served = provisionParams(HOSTNAME, [0], [createKeyPair().public]);
  await provisionSliceVm(served, machine, machine.context);
  const orphans = [`lease orphan ${served.allocation_id}`, `machine orphan ${served.allocation_id}`];
  expect(await compare([])).toEqual(orphans);
  expect(await compare([], [served])).toEqual([]);

  const never = provisionParams(HOSTNAME, [1], [createKeyPair().public]);
  const { underWay } = machine;
  await underWay.during(slotsOf(never), async () => {
    await underWay.during(slotsOf(served), async () => expect(await compare([never])).toEqual([]));
    expect(await compare([never])).toEqual(orphans);
  });
  expect(await compare([])).toEqual(orphans);
});

it('leaves out resources of a task that ran during the scan', async () => {
  const served = provisionParams(HOSTNAME, [0], [createKeyPair().public]);
  await provisionSliceVm(served, machine, machine.context);
  const checking: typeof machine.host = {
    ...machine.host,
    async reconcile(...asked) {
      const found = await machine.host.reconcile(...asked);
      await machine.underWay.during(slotsOf(served), () => Promise.resolve());
      return found;
    },
  };
  const tools = { ...machine, host: checking };
  expect((await reconcileSlices({ machines: [] }, tools, machine.context)).findings).toEqual([]);
});
