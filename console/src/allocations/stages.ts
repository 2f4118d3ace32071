import type { Stage } from '../api/types.ts';

/** The stages of a launch and of a release, in the order they happen. */
export const LAUNCH_STAGES = [
  'placement',
  'plan',
  'image',
  'seed',
  'vm',
  'network',
  'readiness',
  'active',
] as const satisfies Stage[];

export const RELEASE_STAGES = [
  'release',
  'detach',
  'stop',
  'network_cleanup',
  'wipe',
  'verify',
  'released',
] as const satisfies Stage[];

export const STAGE_TITLES: Record<Stage, string> = {
  queue: 'Wait in line',
  placement: 'Find a place',
  plan: 'Check the plan on the host',
  image: 'Prepare the image',
  seed: 'Write the first-boot settings',
  vm: 'Start the machine',
  network: 'Attach the network',
  readiness: 'Wait until it answers',
  user: 'Make the login',
  active: 'Ready to use',
  host: 'News of the host',
  release: 'Release requested',
  detach: 'Close terminals and connections',
  stop: 'Stop the machine',
  network_cleanup: 'Remove its network',
  wipe: 'Wipe the disks',
  verify: 'Verify the wipe',
  released: 'Given back',
  failed: 'Failed',
};
