import type { Budget } from '../api/types.ts';

/** Actions when a budget is used up. */
export const CAP_ACTION_LABELS: Record<Budget['at_cap'], { label: string; hint: string }> = {
  notify: { label: 'Notify only', hint: 'Send alerts, nothing else' },
  refuse: { label: 'Block launches', hint: 'Running machines continue' },
  release: { label: 'Release leases', hint: 'Stops machines and wipes their disks' },
};
