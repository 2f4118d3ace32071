import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { keysOf } from '@gpuaas/contracts/typed-keys';
import { first } from '../../../platform/present.ts';

/** Purpose of a machine. */
export type Profile = components['schemas']['Profile'];

/** MAAS tags of the profiles. */
export const PROFILE_TAGS: Record<Profile, string> = {
  slice_vm: 'gpuaas-profile-slice-vm',
  baremetal: 'gpuaas-profile-baremetal',
};

/** Profile names for scripts on the machine. */
export const SCRIPT_PROFILES: Record<Profile, string> = { slice_vm: 'slice-vm', baremetal: 'baremetal' };

export const PROFILES = keysOf(PROFILE_TAGS);

/** Null if a machine has none of the tags, or both. */
export function profileOf(tags: readonly string[]): Profile | null {
  const found = PROFILES.filter((profile) => tags.includes(PROFILE_TAGS[profile]));
  return found.length === 1 ? first(found, 'found record') : null;
}
