import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openNetwork } from './network.ts';

it('knows the machines that an older agent plugged in', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'gpuaas-network-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  await mkdir(join(dir, 'network'));
  const older = { allocation_id: 'a', ip: '10.1.2.3', ovs_port: 'gs1p0' };
  await writeFile(join(dir, 'network', '5254ea5c9710.json'), JSON.stringify(older));
  const network = openNetwork(dir);
  expect(await network.ports()).toMatchObject([{ ...older, mac: '52:54:ea:5c:97:10' }]);
  expect(await network.leaseOf('52:54:ea:5c:97:10')).toBe('10.1.2.3');
});
