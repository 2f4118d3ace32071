import type { AppStatus } from '../api/types.ts';
import { Badge } from '../ui/values/badge.tsx';
import { WORKLOAD_STATUSES } from './workload-statuses.ts';

export function StatusBadge({ status }: { status: AppStatus }) {
  const { label, tone, moving } = WORKLOAD_STATUSES[status];
  return (
    <Badge tone={tone} moving={moving}>
      {label}
    </Badge>
  );
}
