import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { unwrap } from '@gpuaas/sdk/problem';
import { launchBody } from '../harness/allocations/allocations.ts';
import type { TestPlatform } from '../harness/platform.ts';
import { VM_HOSTNAME, type VmHost } from '../harness/fleet/vm-host.ts';

/** The product as it is, but of a size that a laptop can run, on the image that was built here. */
export async function sellTinyMachines(platform: TestPlatform, digest: string): Promise<void> {
  const { operator, projectId } = platform;
  const { sku } = launchBody(projectId, 1);
  await unwrap(
    operator.PATCH('/api/v1/admin/skus/{sku}', {
      params: { path: { sku } },
      body: { resource_profile: { vcpu_per_gpu: 1, memory_gib_per_gpu: 1 } },
    }),
  );
  // The host has the processors of this machine, which may be no more than its slots take.
  for (const policy_name of ['fleet.host_reserve_vcpu', 'fleet.host_reserve_memory_gib']) {
    const params = { path: { policy_name } };
    await unwrap(operator.PUT('/api/v1/admin/policies/{policy_name}', { params, body: { value: 0 } }));
  }
  await blessImage(platform, digest);
}

/** Image of the next launches. */
export async function blessImage({ operator, projectId }: TestPlatform, digest: string): Promise<void> {
  const { image } = launchBody(projectId, 1);
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
  const answer = await host.room.run('ssh', ...sshWords(host, address, privateKey, command));
  return answer.trim();
}

/** Exit code of ssh itself; any other is the command's. */
const NOT_CONNECTED = 255;

/** Runs a command in a slow guest: with a generous timeout, reconnecting after a lost connection. */
export async function overSlowSsh(
  host: VmHost,
  address: string,
  privateKey: string,
  command: string,
  withinMs: number,
): Promise<string> {
  const words = sshWords(host, address, privateKey, command);
  const end = AbortSignal.timeout(withinMs);
  for (;;) {
    const child = host.room.start('ssh', words, {});
    const stop = (): void => void child.kill('SIGKILL');
    end.addEventListener('abort', stop);
    const [said, complaint] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
    const code = child.exitCode ?? (await once(child, 'exit'))[0];
    end.removeEventListener('abort', stop);
    if (code === 0) return said.trim();
    if (end.aborted || code !== NOT_CONNECTED)
      throw new Error(`ssh ${command}: code ${String(code)} ${complaint}`);
    await pause(1_000);
  }
}

function sshWords(host: VmHost, address: string, privateKey: string, command: string): string[] {
  const file = join(host.dir, 'tenant-key');
  writeFileSync(file, privateKey);
  chmodSync(file, 0o600);
  const options = [
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
    'BatchMode=yes',
  ];
  return ['-i', file, ...options.flatMap((option) => ['-o', option]), `ubuntu@${address}`, command];
}
