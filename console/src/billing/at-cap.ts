import type { Budget } from '../api/types.ts';

/** What happens when a budget is used up. */
export const AT_CAP: Record<Budget['at_cap'], { label: string; hint: string }> = {
  notify: { label: 'People are told', hint: 'Nothing else happens' },
  refuse: { label: 'Launches are refused', hint: 'What runs goes on' },
  release: { label: 'Leases are released', hint: 'Their disks are wiped' },
};
