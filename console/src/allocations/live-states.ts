import type { Allocation } from '../api/types.ts';

/** States in which a machine is there or on its way. */
const HOLDING: Allocation['state'][] = ['reserved', 'provisioning', 'active'];

export function holdsGpus({ state }: Allocation): boolean {
  return HOLDING.includes(state);
}
