/**
 * Keys that a tenant's `#cloud-config` may set. All others belong to the platform (users, keys, names,
 * network), would keep the machine from getting ready (power state), or are not reviewed yet: add a key after
 * a review.
 */
export const ALLOWED_CLOUD_CONFIG_KEYS: ReadonlySet<string> = new Set([
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
