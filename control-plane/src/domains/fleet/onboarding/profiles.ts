import type { components } from '@gpuaas/contracts/generated/openapi.ts';

/** What a machine is going to be sold as. */
export type Profile = components['schemas']['Profile'];

/** How MAAS says it. */
export const PROFILE_TAGS: Record<Profile, string> = {
  slice_vm: 'gpuaas-profile-slice-vm',
  baremetal: 'gpuaas-profile-baremetal',
};

/** How scripts on the machine say it. */
export const SCRIPT_PROFILES: Record<Profile, string> = { slice_vm: 'slice-vm', baremetal: 'baremetal' };

export const PROFILES = Object.keys(PROFILE_TAGS) as Profile[];

/** Null when a machine carries none of the tags, or both. */
export function profileOf(tags: readonly string[]): Profile | null {
  const found = PROFILES.filter((profile) => tags.includes(PROFILE_TAGS[profile]));
  return found.length === 1 ? found[0]! : null;
}
