import type { CostGroup } from '../api/reports.ts';

/** What costs can be added up by. */
export const COST_GROUPS: { value: CostGroup; label: string }[] = [
  { value: 'project', label: 'Project' },
  { value: 'team', label: 'Team' },
  { value: 'user', label: 'User' },
  { value: 'sku', label: 'Product or app' },
  { value: 'tag', label: 'Tag' },
  { value: 'region', label: 'Region' },
];
