import { readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureFolder, writeDurable } from '../durable-file.ts';
import type { VmPlan } from './plan-vm.ts';
import { toMimeMessage } from './tenant-user-data.ts';

/** The host's part of the guest's user data. */
export interface HostUserData {
  /** How the guest's network is tuned at each boot. */
  sysctls?: Readonly<Record<string, string>>;
  /** The identity that the guest's SSH server shall show. */
  hostKey: { private: string; public: string };
  /** Lets the agent try the login first; it is removed immediately afterwards. */
  firstLogin: string;
}

export function seedFolder(dir: string, allocationId: string): string {
  return join(dir, 'slices', allocationId);
}

/** `user-data.yaml` and `meta-data.yaml` of the slice; a real host packs them into `seed.iso`. */
export async function writeSeed(
  dir: string,
  plan: VmPlan,
  host: HostUserData | null = null,
): Promise<string> {
  const folder = seedFolder(dir, plan.allocation_id);
  await ensureFolder(folder);
  await writeDurable(join(folder, 'user-data.yaml'), userData(plan, host));
  await writeDurable(join(folder, 'meta-data.yaml'), metaData(plan));
  return folder;
}

/** Removes the seed and the agent's notes about the machine, but not those named. */
export async function removeSeed(dir: string, allocationId: string, keep: readonly string[]): Promise<void> {
  const folder = seedFolder(dir, allocationId);
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((entry) => !keep.includes(entry)))
    await rm(join(folder, name), { recursive: true, force: true });
  // Fails while a note is left, and must.
  await rmdir(folder).catch(() => undefined);
}

/** The platform's user data alone, or merged with the tenant's. */
export function userData(plan: VmPlan, host: HostUserData | null = null): string {
  const ours = platformConfig(plan, host);
  const hook = bootHook(host?.sysctls ?? {});
  return plan.user_data === undefined && hook === null
    ? ours
    : toMimeMessage({ ours, tenants: plan.user_data ?? null, hook });
}

/** Scalars are written as JSON strings, which YAML reads as they are, so that no value can add a key. */
function platformConfig(plan: VmPlan, host: HostUserData | null): string {
  const authorized = [...plan.ssh_authorized_keys, ...(host ? [host.firstLogin] : [])];
  return [
    '#cloud-config',
    `hostname: ${JSON.stringify(plan.hostname)}`,
    'ssh_pwauth: false',
    'disable_root: true',
    ...(host ? hostKeys(host.hostKey) : ['ssh_genkeytypes: [ed25519]']),
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

function hostKeys(pair: HostUserData['hostKey']): string[] {
  return [
    'ssh_deletekeys: true',
    'ssh_keys:',
    `  ed25519_private: ${JSON.stringify(pair.private)}`,
    `  ed25519_public: ${JSON.stringify(pair.public.trim())}`,
  ];
}

/** A hook and no key of the configuration: a tenant's own `bootcmd` shall not lose to it. */
function bootHook(sysctls: Readonly<Record<string, string>>): string | null {
  const words = Object.entries(sysctls).map(([name, value]) => `'${name}=${value}'`);
  return words.length === 0
    ? null
    : `#cloud-boothook\n#!/bin/sh\nsysctl --quiet --write ${words.join(' ')}\n`;
}

export function metaData(plan: VmPlan): string {
  return `instance-id: ${JSON.stringify(plan.allocation_id)}\nlocal-hostname: ${JSON.stringify(plan.hostname)}\n`;
}
