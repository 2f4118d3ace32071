import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approveFleet } from '@gpuaas/lab/approve-fleet';
import { createKeyPair } from '@gpuaas/node-agent/testing/ssh';
import { unwrap } from '@gpuaas/sdk/problem';
import { launchBody, release, waitForState } from '../harness/allocations/allocations.ts';
import { eventually } from '../harness/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';
import { mintTerminalToken, TestTerminal } from '../harness/access/terminal.ts';
import { whyNoVmLab } from '../harness/fleet/vm-lab-needs.ts';
import { BRIDGE, openVmHost, VM_HOSTNAME, type VmHost } from '../harness/fleet/vm-host.ts';
import { mintToken, overSsh, sellTinyMachines } from './lab-steps.ts';

const obstacle = whyNoVmLab();
const DEADLINE_MS = 240_000;
const MACHINE_MS = 200_000;

let platform: TestPlatform;
let host: VmHost;

describe.skipIf(obstacle !== null)(
  `a slice on a real hypervisor (${obstacle ?? 'needs nothing more'})`,
  () => {
    beforeAll(async () => {
      [platform, host] = await Promise.all([startTestPlatform({ nodes: 0 }), openVmHost()]);
    }, DEADLINE_MS);
    afterAll(async () => {
      await host?.close();
      await platform?.stop();
    });

    it(
      'is enrolled, discovered, approved, launched, logged in to, released and proven wiped',
      async () => {
        await sellTinyMachines(platform, host.image.digest);
        const { operator, member, projectId } = platform;
        await host.startAgent(platform.nodeUrl, { GPUAAS_AGENT_TOKEN: await mintToken(platform) });
        const node = await eventually('the host', async () => {
          const { items } = await unwrap(operator.GET('/api/v1/admin/nodes'));
          return items.find((one) => one.hostname === VM_HOSTNAME && one.connection === 'connected');
        });
        await approveFleet(operator, { info: () => undefined, warn: () => undefined });

        const pair = createKeyPair();
        const key = await unwrap(
          member.POST('/api/v1/ssh-keys', { body: { name: 'lab', public_key: pair.public.trim() } }),
        );
        const body = {
          ...launchBody(projectId, 1),
          ssh_key_ids: [key.id],
          name: 'train-01',
          user_data: '#!/bin/sh\necho "as $(id -u) for $(hostname)" > /home/ubuntu/of-the-tenant\n',
        };
        const { id } = await unwrap(member.POST('/api/v1/allocations', { body }));
        const active = waitForState(member, id, 'active', MACHINE_MS).catch((error: unknown) => {
          throw new Error(`${String(error)}\n${host.log()}\n${host.consoleOf(id)}`);
        });
        expect(await disagreementsUntil(active, node.id)).toEqual([]);

        const path = { allocation_id: id };
        const connection = await unwrap(
          member.GET('/api/v1/allocations/{allocation_id}/connection', { params: { path } }),
        );
        expect(connection).toMatchObject({ lease_state: 'bound', actual_ip: connection.expected_ip });
        const { mac, expected_ip, actual_ip } = connection;
        await eventually('the address in a heartbeat', async () => {
          const reports = await platform.services.db.selectFrom('nodes').select('observed').execute();
          const machine = reports.flatMap(({ observed }) => observed.vms ?? [])[0];
          // A report from before the machine asked for its address says so, and is no fault.
          if (machine?.network?.lease_state !== 'bound') return null;
          expect(machine.network).toEqual({ mac, expected_ip, actual_ip, lease_state: 'bound' });
          return machine;
        });
        expect(await overSsh(host, connection.expected_ip, pair.private, 'echo $(hostname) $(whoami)')).toBe(
          'train-01 ubuntu',
        );
        // Its user-data ran once, as root, and changed none of the platform's settings.
        await eventually('the script of the tenant', async () => {
          const said = await overSsh(host, connection.expected_ip, pair.private, 'cat of-the-tenant');
          return said === 'as 0 for train-01' || null;
        });
        expect(await overTerminal(id)).toContain('nothing-of-ours=0');
        expect(await keyShown(connection.expected_ip)).toContain(connection.host_key_fingerprint);

        expect(await disagreements(node.id)).toEqual([]);
        await host.room.run('nft', 'delete', 'table', 'inet', 'gpuaas');
        const lost = { subject: 'address', state: 'missing', allocation_id: id };
        expect(await disagreements(node.id)).toContainEqual(expect.objectContaining(lost));

        await release(member, id);
        const released = waitForState(member, id, 'released', MACHINE_MS);
        expect(await disagreementsUntil(released, node.id)).toEqual([]);
        const { items } = await unwrap(
          member.GET('/api/v1/allocations/{allocation_id}/wipe-certificates', { params: { path } }),
        );
        expect(items).toMatchObject([{ verified: true, method: 'blkdiscard' }]);
        const after = await unwrap(
          operator.GET('/api/v1/admin/nodes/{node_id}', { params: { path: { node_id: node.id } } }),
        );
        expect(after.slot_counts).toMatchObject({ available: 2, cleanup_blocked: 0 });
        await nothingIsLeft(id);
        await strayThingsAreTold(node.id);
      },
      DEADLINE_MS,
    );
  },
);

/** Findings of a comparison of the host with the platform. */
async function disagreements(nodeId: string): Promise<unknown[]> {
  const { operator } = platform;
  const path = { node_id: nodeId };
  const { id } = await unwrap(
    operator.POST('/api/v1/admin/nodes/{node_id}/reconciliation', { params: { path } }),
  );
  const output = await eventually('the comparison', async () => {
    const answer = await unwrap(
      operator.GET('/api/v1/admin/tasks/{task_id}', { params: { path: { task_id: id } } }),
    );
    return answer.task.state === 'succeeded' ? answer.output : null;
  });
  return (output as { findings: unknown[] }).findings;
}

/**
 * All findings while a machine is created or removed, polled repeatedly: resources in transition are no
 * orphans.
 */
async function disagreementsUntil(end: Promise<unknown>, nodeId: string): Promise<unknown[]> {
  const found: unknown[] = [];
  let times = 0;
  const over = end.then(() => true);
  const soon = () => Promise.race([over, pause(200, false)]);
  while (!(await soon())) {
    found.push(...(await disagreements(nodeId)));
    times += 1;
  }
  expect(times).toBeGreaterThan(1);
  return found;
}

/** Orphaned network entries are reported, and left for the operator to judge. */
async function strayThingsAreTold(nodeId: string): Promise<void> {
  expect(await disagreements(nodeId)).toEqual([]);
  const { room } = host;
  const stray = ['gs123456p7', '--', 'set', 'interface', 'gs123456p7', 'type=internal'];
  await room.run('ovs-vsctl', 'add-port', BRIDGE, ...stray);
  await room.run('ovs-ofctl', 'add-flow', BRIDGE, 'cookie=0x77,priority=100,in_port=99,actions=drop');
  await room.run('nft', 'add', 'element', 'inet', 'gpuaas', 'slices', '{ 10.9.9.9 }');
  writeFileSync(join(host.dir, 'dhcp/leases'), '9999999999 52:54:00:aa:00:01 10.9.9.8 * *\n');
  expect(await disagreements(nodeId)).toEqual(
    [
      ['port', 'port gs123456p7'],
      ['port', 'flows with cookie 0x77'],
      ['address', 'lease of 52:54:00:aa:00:01 for 10.9.9.8'],
      ['address', 'NAT of 10.9.9.9'],
    ].map(([subject, evidence]) => ({ subject, state: 'orphan', allocation_id: null, evidence })),
  );
  expect(await room.run('ovs-vsctl', 'list-ports', BRIDGE)).toContain('gs123456p7');
}

/** The browser's way: gateway, tunnel, agent, guest. */
async function overTerminal(allocationId: string): Promise<string> {
  const { token, websocket_path } = await mintTerminalToken(platform.member, allocationId);
  const terminal = new TestTerminal(platform.baseUrl, websocket_path, token);
  await terminal.ready;
  terminal.type('echo nothing-of-ours=$(grep -c gpuaas-first-login .ssh/authorized_keys)\n');
  const output = await eventually('the answer', async () =>
    /nothing-of-ours=\d/.test(terminal.output) ? terminal.output : null,
  );
  terminal.close();
  return output;
}

async function keyShown(address: string): Promise<string> {
  const scanned = await host.room.run('ssh-keyscan', '-t', 'ed25519', address);
  const file = join(host.dir, 'scanned');
  writeFileSync(file, scanned);
  return await host.room.run('ssh-keygen', '-l', '-f', file);
}

async function nothingIsLeft(allocationId: string): Promise<void> {
  const { room } = host;
  expect((await room.run('virsh', '--connect', 'qemu:///system', 'list', '--all', '--name')).trim()).toBe('');
  expect((await room.run('ovs-vsctl', 'list-ports', 'ovsbr0')).trim()).toBe('');
  expect(await room.run('ovs-ofctl', 'dump-flows', 'ovsbr0')).not.toMatch(/cookie=0x[1-9a-f]/);
  expect(await room.run('nft', 'list', 'set', 'inet', 'gpuaas', 'slices')).not.toContain('elements');
  expect((await room.run('cat', join(host.dir, 'dhcp/leases'))).trim()).not.toContain('52:54');
  expect(await room.run('ls', join(host.dir, 'slices'))).not.toContain(allocationId);
  for (const disk of room.disks) {
    await room.run('cmp', '--bytes', String(disk.sizeBytes), disk.node, '/dev/zero');
  }
}
