import { STATUS_NAMES } from '@gpuaas/lab/maas/statuses';
import { expect } from 'vitest';
import { hostsInstalled, importMachine } from './imported-machines.ts';
import type { LifecycleWorld } from '../lifecycle/lifecycle-world.ts';
import type { Scenario } from './step-scenes.ts';

/** A machine of MAAS for each run; the way back is reached by an installation that fails. */
export const onboardingScene: Scenario = {
  workflow: 'node.onboard',
  hostsFor: () => 0,
  withMaas: true,
  // No workflow waits for the discovery, so none would end one that a busy machine answers late.
  policies: { 'fleet.discovery_deadline_seconds': 900 },
  async begin(world, steps) {
    const ids: string[] = [];
    for (const [index, step] of steps.entries()) {
      const systemId = `run${index}`;
      const machine = world.maas!.add({ systemId, hostname: `maas-${index}` });
      if (step === 'onboard.give_back') machine.faults.add('deploying fails');
      ids.push(await importMachine(world, systemId, 'slice_vm'));
    }
    return ids.map((id) => `onboard:${id}`);
  },
  async ended(world, timeoutMs) {
    await hostsInstalled(world, timeoutMs);
    await expectMachinesInPlace(world);
  },
};

/** After any fault of a step, MAAS got each request once, and each machine is a host or returned. */
async function expectMachinesInPlace({ api, maas }: LifecycleWorld): Promise<void> {
  const rows = await api.services.db.selectFrom('node_onboardings').selectAll().execute();
  for (const row of rows) {
    const machine = maas!.machine(row.maas_system_id);
    const asked = (operation: string): number =>
      maas!.granted.filter((one) => one === `machines/${row.maas_system_id}/ ${operation}`).length;
    expect([asked('commission'), asked('test'), asked('deploy')], row.hostname).toEqual([1, 1, 1]);
    expect(row.sealed_token).toBeNull();
    const found = { state: row.state, undone: row.undone, status: STATUS_NAMES[machine.status] };
    if (machine.faults.size === 0) {
      expect(found).toEqual({ state: 'succeeded', undone: null, status: 'Deployed' });
      expect([...machine.tags]).toEqual(['gpuaas-profile-slice-vm']);
    } else {
      expect(found).toEqual({ state: 'failed', undone: true, status: 'Ready' });
      expect([machine.owner, ...machine.tags]).toEqual([null]);
    }
  }
}
