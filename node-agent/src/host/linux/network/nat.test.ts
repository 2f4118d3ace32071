import { expect, it } from 'vitest';
import type { RunCommand } from '../commands.ts';
import { openNat } from './nat.ts';
import { openPublicAddresses } from './public-addresses.ts';

const failing =
  (stderr: string): RunCommand =>
  async () => ({ code: 1, stdout: '', stderr });

it('missing rules count as none', async () => {
  const nat = openNat(
    'ovsbr0',
    { uplink: null, closedNetworks: [] },
    failing('Error: No such file or directory\nlist set inet gpuaas slices'),
  );
  expect(await nat.addresses()).toEqual([]);
  expect(await nat.ingress()).toEqual([]);
});

it('unreadable rules and addresses do not count as gone', async () => {
  for (const run of [failing('Operation not permitted (you must be root)'), async () => null]) {
    const nat = openNat('ovsbr0', { uplink: null, closedNetworks: [] }, run);
    for (const read of [nat.addresses, nat.ingress, openPublicAddresses(run).list])
      await expect(read()).rejects.toMatchObject({ code: 'network_not_ready' });
  }
});
