import { expect } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { ask } from '../harness/fleet.ts';
import type { LifecycleWorld } from './lifecycle-world.ts';
import type { Lease } from './step-scenes.ts';

/** Machines of MAAS whose tenants get root: what they leave behind only an erasure takes away. */
export const rootedHost: Lease = {
  hostsFor: () => 0,
  withMaas: true,
  policies: { 'allocations.root_on_redeployable_hosts': true, 'fleet.discovery_deadline_seconds': 900 },
  async prepare(world, runs, timeoutMs) {
    for (let index = 0; index < runs; index += 1) {
      world.maas!.add({ systemId: systemIdOf(index), hostname: `metal-${index}` });
      await importBaremetal(world, systemIdOf(index));
    }
    await installed(world, timeoutMs);
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
    await installed(world, timeoutMs);
    await expectErased(world);
  },
};

function systemIdOf(index: number): string {
  return `metal${index}`;
}

export async function importBaremetal({ api }: LifecycleWorld, systemId: string): Promise<string> {
  const body = { profile: 'baremetal', region: 'uae-north-1' };
  const path = `/maas/machines/${systemId}/import`;
  const answer = await ask<{ id: string }>(api, 'operator', 'POST', path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  return answer.body.id;
}

/** Every machine that MAAS was asked to install is a host, and has answered what it was asked. */
async function installed({ api }: LifecycleWorld, timeoutMs: number): Promise<void> {
  const { db } = api.services;
  await eventually(
    'machines to be installed',
    async () => {
      const open = await db
        .selectFrom('node_onboardings')
        .select('id')
        .where('state', '=', 'running')
        .execute();
      const asked = await db
        .selectFrom('node_tasks')
        .select('id')
        .where('state', 'in', ['queued', 'claimed'])
        .execute();
      return open.length + asked.length === 0 ? true : null;
    },
    timeoutMs,
  );
}

/** Whatever happened to a step: one proof per lease, and the host was erased and came back once for it. */
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
