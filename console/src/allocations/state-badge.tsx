import type { AllocationState } from '../api/types.ts';
import { Badge } from '../ui/values/badge.tsx';
import { ALLOCATION_STATES } from './allocation-states.ts';

export function StateBadge({ state }: { state: AllocationState }) {
  const { label, tone, moving } = ALLOCATION_STATES[state];
  return (
    <Badge tone={tone} moving={moving}>
      {label}
    </Badge>
  );
}
