import type { StateFilter } from '../api/allocations/allocations.ts';
import { Select } from '../ui/forms/select.tsx';
import { ALLOCATION_STATES } from './allocation-states.ts';
import { keysOf } from '../typed-keys.ts';

const ALL = 'all';

const OPTIONS: { value: StateFilter | typeof ALL; label: string }[] = [
  { value: ALL, label: 'All' },
  { value: 'live', label: 'Active' },
  { value: 'ended', label: 'Ended' },
  ...keysOf(ALLOCATION_STATES).map((state) => ({
    value: state,
    label: ALLOCATION_STATES[state].label,
  })),
];

interface StateSelectProps {
  value: StateFilter | undefined;
  onChange: (state: StateFilter | undefined) => void;
}

export function StateSelect({ value, onChange }: StateSelectProps) {
  return (
    <div className="flex flex-col gap-1.5">
      <Select
        label="State"
        value={value ?? ALL}
        onChange={(state) => onChange(state === ALL ? undefined : state)}
        options={OPTIONS}
      />
    </div>
  );
}
