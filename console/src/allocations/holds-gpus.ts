import type { Allocation } from '../api/types.ts';

/** States in which a machine exists or is being created. */
const HOLDING: Allocation['state'][] = ['reserved', 'provisioning', 'active'];

export function holdsGpus({ state }: Allocation): boolean {
  return HOLDING.includes(state);
}
