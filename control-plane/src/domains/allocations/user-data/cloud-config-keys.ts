/**
 * What a tenant's `#cloud-config` may set. Whatever is not here is the platform's (users, keys, names, network), would
 * keep the machine from being ready (power state), or is new to us: a key is added when somebody has looked at it.
 */
export const TENANT_KEYS: ReadonlySet<string> = new Set([
  'apt',
  'bootcmd',
  'ca-certs',
  'ca_certs',
  'final_message',
  'keyboard',
  'locale',
  'mounts',
  'ntp',
  'package_reboot_if_required',
  'package_update',
  'package_upgrade',
  'packages',
  'runcmd',
  'snap',
  'swap',
  'timezone',
  'write_files',
]);
