import type { StatusFilter } from '../api/apps/instances.ts';
import { keysOf } from '../typed-keys.ts';
import { Select } from '../ui/forms/select.tsx';
import { WORKLOAD_STATUSES } from './workload-statuses.ts';

const ALL = 'all';

const OPTIONS: { value: StatusFilter | typeof ALL; label: string }[] = [
  { value: ALL, label: 'All' },
  { value: 'live', label: 'Not ended' },
  { value: 'ended', label: 'Ended' },
  ...keysOf(WORKLOAD_STATUSES).map((status) => ({
    value: status,
    label: WORKLOAD_STATUSES[status].label,
  })),
];

interface StatusSelectProps {
  value: StatusFilter | undefined;
  onChange: (status: StatusFilter | undefined) => void;
}

export function StatusSelect({ value, onChange }: StatusSelectProps) {
  return (
    <div className="flex max-w-52 flex-col gap-1.5">
      <Select
        label="Status"
        value={value ?? ALL}
        onChange={(status) => onChange(status === ALL ? undefined : status)}
        options={OPTIONS}
      />
    </div>
  );
}
