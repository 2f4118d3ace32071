import type { CostGroup } from '../api/billing/reports.ts';

/** Dimensions of cost reports. */
export const COST_GROUPS: { value: CostGroup; label: string }[] = [
  { value: 'project', label: 'Project' },
  { value: 'team', label: 'Team' },
  { value: 'user', label: 'User' },
  { value: 'sku', label: 'Product or app' },
  { value: 'tag', label: 'Tag' },
  { value: 'region', label: 'Region' },
];
