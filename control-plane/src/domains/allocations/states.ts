/** The allocation state machine as data: allowed transitions, and their causes. */
export const transitions = {
  queued: ['reserved', 'released', 'failed'],
  reserved: ['provisioning', 'failed'],
  provisioning: ['active', 'failed'],
  active: ['releasing'],
  releasing: ['released', 'release_failed'],
  release_failed: ['releasing'],
  released: [],
  failed: [],
} as const satisfies Record<string, readonly string[]>;

export type AllocationState = keyof typeof transitions;

export function canTransition(from: AllocationState, to: AllocationState): boolean {
  return transitions[from].some((state) => state === to);
}

/** States in which the tenant may ask for the release. */
export const releasable: ReadonlySet<AllocationState> = new Set([
  'queued',
  'reserved',
  'provisioning',
  'active',
  'release_failed',
]);
