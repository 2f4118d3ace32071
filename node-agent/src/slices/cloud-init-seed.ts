import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureFolder, writeDurable } from '../durable-file.ts';
import type { VmPlan } from './plan-vm.ts';

export function seedFolder(dir: string, allocationId: string): string {
  return join(dir, 'slices', allocationId);
}

/** `user-data.yaml` and `meta-data.yaml` of the slice; a real host packs them into `seed.iso`. */
export async function writeSeed(dir: string, plan: VmPlan): Promise<string> {
  const folder = seedFolder(dir, plan.allocation_id);
  await ensureFolder(folder);
  await writeDurable(join(folder, 'user-data.yaml'), userData(plan));
  await writeDurable(join(folder, 'meta-data.yaml'), metaData(plan));
  return folder;
}

export async function removeSeed(dir: string, allocationId: string): Promise<void> {
  await rm(seedFolder(dir, allocationId), { recursive: true, force: true });
}

/** Scalars are written as JSON strings, which YAML reads as they are, so that no value can add a key. */
export function userData(plan: VmPlan): string {
  const keys = plan.ssh_authorized_keys.map((key) => `      - ${JSON.stringify(key.trim())}`);
  return [
    '#cloud-config',
    `hostname: ${JSON.stringify(plan.hostname)}`,
    'ssh_pwauth: false',
    'disable_root: true',
    'ssh_genkeytypes: [ed25519]',
    'users:',
    `  - name: ${JSON.stringify(plan.username)}`,
    '    shell: /bin/bash',
    '    lock_passwd: true',
    '    sudo: "ALL=(ALL) NOPASSWD:ALL"',
    '    ssh_authorized_keys:',
    ...keys,
    '',
  ].join('\n');
}

export function metaData(plan: VmPlan): string {
  return `instance-id: ${JSON.stringify(plan.allocation_id)}\nlocal-hostname: ${JSON.stringify(plan.hostname)}\n`;
}
