import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unwrap } from '@gpuaas/sdk/problem';
import { launchBody } from '../harness/allocations.ts';
import type { TestPlatform } from '../harness/platform.ts';
import { VM_HOSTNAME, type VmHost } from '../harness/vm-host.ts';

/** The product as it is, but of a size that a laptop can run, on the image that was built here. */
export async function sellTinyMachines({ operator, projectId }: TestPlatform, digest: string): Promise<void> {
  const { image, sku } = launchBody(projectId, 1);
  await unwrap(
    operator.PATCH('/api/v1/admin/skus/{sku}', {
      params: { path: { sku } },
      body: { resource_profile: { vcpu_per_gpu: 1, memory_gib_per_gpu: 1 } },
    }),
  );
  await unwrap(
    operator.POST('/api/v1/admin/images/{image}/bless', {
      params: { path: { image } },
      body: { digest, reason: 'Built for this run.' },
    }),
  );
}

export async function mintToken({ operator }: TestPlatform): Promise<string> {
  const body = {
    hostname: VM_HOSTNAME,
    region: 'uae-north-1',
    rack: 'lab',
    pool: 'default',
    node_family: 'hgx-h200',
  };
  const { token } = await unwrap(operator.POST('/api/v1/admin/node-enrolments', { body }));
  return token!;
}

/** OpenSSH beside the host, over the bridge. */
export async function overSsh(
  host: VmHost,
  address: string,
  privateKey: string,
  command: string,
): Promise<string> {
  const file = join(host.dir, 'tenant-key');
  writeFileSync(file, privateKey);
  chmodSync(file, 0o600);
  const options = [
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
    'BatchMode=yes',
  ];
  const words = options.flatMap((option) => ['-o', option]);
  const answer = await host.room.run('ssh', '-i', file, ...words, `ubuntu@${address}`, command);
  return answer.trim();
}
