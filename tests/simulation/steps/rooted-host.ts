import { expect } from 'vitest';
import { hostsInstalled, importMachine } from './imported-machines.ts';
import type { LifecycleWorld } from '../lifecycle/lifecycle-world.ts';
import type { Lease } from './step-scenes.ts';

/** MAAS machines whose tenants get root: only an erasure removes their leftovers. */
export const rootedHost: Lease = {
  hostsFor: () => 0,
  withMaas: true,
  policies: { 'allocations.root_on_redeployable_hosts': true, 'fleet.discovery_deadline_seconds': 900 },
  async prepare(world, runs, timeoutMs) {
    for (let index = 0; index < runs; index += 1) {
      world.maas!.add({ systemId: systemIdOf(index), hostname: `metal-${index}` });
      await importMachine(world, systemIdOf(index), 'baremetal');
    }
    await hostsInstalled(world, timeoutMs);
    const rows = await world.api.services.db.selectFrom('nodes').select(['id', 'maas_system_id']).execute();
    const hosts = new Map(rows.map(({ id, maas_system_id }) => [maas_system_id, id]));
    for (let index = 0; index < runs; index += 1) world.nodeIds.push(hosts.get(systemIdOf(index))!);
  },
  take: (world, index) => world.leaseHost(world.nodeIds[index]!),
  provision: 'allocation.provision_user',
  release: 'allocation.deprovision_user',
  spoil: (world, index) => void world.maas!.machine(systemIdOf(index)).faults.add('erasing fails'),
  mend(world) {
    for (const index of world.nodeIds.keys()) world.maas!.machine(systemIdOf(index)).faults.clear();
  },
  async ended(world, timeoutMs) {
    await hostsInstalled(world, timeoutMs);
    await expectErased(world);
  },
};

function systemIdOf(index: number): string {
  return `metal${index}`;
}

/** After any fault of a step: one proof per lease, and the host was erased and reinstalled once for it. */
async function expectErased({ api, maas, nodeIds }: LifecycleWorld): Promise<void> {
  const { db } = api.services;
  const proofs = await db.selectFrom('host_cleanups').selectAll().execute();
  expect(proofs.map(({ method, verified }) => `${method} ${verified}`)).toEqual(
    nodeIds.map(() => 'maas_erase true'),
  );
  for (const [index, nodeId] of nodeIds.entries()) {
    const machine = maas!.machine(systemIdOf(index));
    expect(new Set(machine.erasures), machine.hostname).toEqual(new Set(['secure']));
    expect(machine.disks, machine.hostname).toEqual(['an operating system']);
    const onboardings = await db
      .selectFrom('node_onboardings')
      .select('state')
      .where('node_id', '=', nodeId)
      .execute();
    expect(onboardings, machine.hostname).toEqual([{ state: 'succeeded' }, { state: 'succeeded' }]);
  }
}
