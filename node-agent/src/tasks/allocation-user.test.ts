import { randomUUID } from 'node:crypto';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HOSTNAME, openTestHost, type TestHost } from '../testing/simulated-host.ts';
import { provisionParams } from '../testing/slots.ts';
import { createKeyPair } from '../testing/ssh.ts';
import { deprovisionUser } from './allocation-deprovision-user.ts';
import { provisionUser } from './allocation-provision-user.ts';
import { provisionSliceVm } from './slice-vm-provision.ts';

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 30_000 });

let machine: TestHost;
beforeEach(async () => {
  machine = await openTestHost();
});
afterEach(() => machine.close());

function lease() {
  const allocation_id = randomUUID();
  const username = `lease-${allocation_id.slice(-12)}`;
  return { allocation_id, username, hostname: 'metal-01', ssh_authorized_keys: [createKeyPair().public] };
}

async function deprovision({ allocation_id, username }: ReturnType<typeof lease>) {
  const params = { allocation_id, username, stop_timeout_seconds: 5 };
  return await deprovisionUser(params, machine, machine.context);
}

it('gives the host to one unprivileged user, once, and takes it back with proof', async () => {
  const tenant = lease();
  const first = await provisionUser(tenant, machine, machine.context);
  expect(first).toMatchObject({ privileged: false, boot_id: machine.host.bootId });
  expect(await provisionUser(tenant, machine, machine.context)).toEqual(first);
  expect(await machine.host.listVms()).toMatchObject([
    { allocation_id: tenant.allocation_id, state: 'running' },
  ]);

  expect(await deprovision(tenant)).toMatchObject({ user_absent: true, verified: true, leftovers: [] });
  expect(await machine.host.listVms()).toEqual([]);
  expect(await machine.hostLease.holder()).toBeNull();
  await expect(access(join(machine.dir, 'users', tenant.username))).rejects.toThrow('ENOENT');
  expect(machine.streams.isRevoked(tenant.allocation_id)).toBe(true);
});

it('refuses root on a simulated host', async () => {
  const asked = provisionUser({ ...lease(), root: true }, machine, machine.context);
  await expect(asked).rejects.toMatchObject({ code: 'root_refused' });
});

it('is exclusive: no second tenant, no slice beside it, no host under slices', async () => {
  const tenant = lease();
  await provisionUser(tenant, machine, machine.context);
  await expect(provisionUser(lease(), machine, machine.context)).rejects.toMatchObject({
    code: 'slot_leased',
  });
  const slice = provisionParams(HOSTNAME, [0], [createKeyPair().public]);
  await expect(provisionSliceVm(slice, machine, machine.context)).rejects.toMatchObject({
    code: 'slot_leased',
  });
  await expect(deprovision(lease())).rejects.toMatchObject({ code: 'slot_leased' });
  await deprovision(tenant);
  await provisionSliceVm(slice, machine, machine.context);
  await expect(provisionUser(lease(), machine, machine.context)).rejects.toMatchObject({
    code: 'plan_refused',
  });
});

it('keeps the lease and the evidence while anything of the tenant is left', async () => {
  const tenant = lease();
  await provisionUser(tenant, machine, machine.context);
  await writeFile(join(machine.dir, 'faults'), 'wipe_fails');
  await expect(deprovision(tenant)).rejects.toMatchObject({
    code: 'cleanup_not_verified',
    output: { verified: false, leftovers: [expect.stringContaining('residue.bin')] },
  });
  expect(await machine.hostLease.holder()).toBe(tenant.allocation_id);
  await writeFile(join(machine.dir, 'faults'), '');
  expect((await deprovision(tenant)).verified).toBe(true);
});
