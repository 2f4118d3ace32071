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

export const RELEASE_STAGES = ['release', 'stop', 'wipe', 'verify', 'released'] as const satisfies Stage[];

export const STAGE_TITLES: Record<Stage, string> = {
  placement: 'Find a place',
  plan: 'Check the plan on the host',
  image: 'Prepare the image',
  seed: 'Write the first-boot settings',
  vm: 'Start the machine',
  network: 'Attach the network',
  readiness: 'Wait until it answers',
  active: 'Ready to use',
  release: 'Release requested',
  stop: 'Stop the machine',
  wipe: 'Wipe the disks',
  verify: 'Verify the wipe',
  released: 'Given back',
  failed: 'Failed',
};
