import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureFolder, writeDurable } from '../durable-file.ts';
import type { VmPlan } from './plan-vm.ts';
import { withTenantPart } from './tenant-user-data.ts';

/** Keys of the host's making that go into the guest. */
export interface SeedKeys {
  /** The identity that the guest's SSH server shall show. */
  hostKey: { private: string; public: string };
  /** With it the agent tries the login before anybody else; it is taken out again at once. */
  firstLogin: string;
}

export function seedFolder(dir: string, allocationId: string): string {
  return join(dir, 'slices', allocationId);
}

/** `user-data.yaml` and `meta-data.yaml` of the slice; a real host packs them into `seed.iso`. */
export async function writeSeed(dir: string, plan: VmPlan, keys: SeedKeys | null = null): Promise<string> {
  const folder = seedFolder(dir, plan.allocation_id);
  await ensureFolder(folder);
  await writeDurable(join(folder, 'user-data.yaml'), userData(plan, keys));
  await writeDurable(join(folder, 'meta-data.yaml'), metaData(plan));
  return folder;
}

export async function removeSeed(dir: string, allocationId: string): Promise<void> {
  await rm(seedFolder(dir, allocationId), { recursive: true, force: true });
}

/** Ours alone, or the tenant's with ours. */
export function userData(plan: VmPlan, keys: SeedKeys | null = null): string {
  const ours = platformConfig(plan, keys);
  return plan.user_data === undefined ? ours : withTenantPart(ours, plan.user_data);
}

/** Scalars are written as JSON strings, which YAML reads as they are, so that no value can add a key. */
function platformConfig(plan: VmPlan, keys: SeedKeys | null): string {
  const authorized = [...plan.ssh_authorized_keys, ...(keys ? [keys.firstLogin] : [])];
  return [
    '#cloud-config',
    `hostname: ${JSON.stringify(plan.hostname)}`,
    'ssh_pwauth: false',
    'disable_root: true',
    ...(keys ? hostKeys(keys.hostKey) : ['ssh_genkeytypes: [ed25519]']),
    'users:',
    `  - name: ${JSON.stringify(plan.username)}`,
    '    shell: /bin/bash',
    '    lock_passwd: true',
    '    sudo: "ALL=(ALL) NOPASSWD:ALL"',
    '    ssh_authorized_keys:',
    ...authorized.map((key) => `      - ${JSON.stringify(key.trim())}`),
    '',
  ].join('\n');
}

function hostKeys(pair: SeedKeys['hostKey']): string[] {
  return [
    'ssh_deletekeys: true',
    'ssh_keys:',
    `  ed25519_private: ${JSON.stringify(pair.private)}`,
    `  ed25519_public: ${JSON.stringify(pair.public.trim())}`,
  ];
}

export function metaData(plan: VmPlan): string {
  return `instance-id: ${JSON.stringify(plan.allocation_id)}\nlocal-hostname: ${JSON.stringify(plan.hostname)}\n`;
}
