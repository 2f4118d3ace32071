import type { StateFilter } from '../api/allocations.ts';
import type { AllocationsSearch } from '../search-params.ts';
import { Field } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import { ALLOCATION_STATES } from './allocation-states.ts';
import type { AllocationState } from '../api/types.ts';

const ALL = 'all';

const OPTIONS: { value: StateFilter | typeof ALL; label: string }[] = [
  { value: ALL, label: 'All' },
  { value: 'live', label: 'Not ended' },
  { value: 'ended', label: 'Ended' },
  ...(Object.keys(ALLOCATION_STATES) as AllocationState[]).map((state) => ({
    value: state,
    label: ALLOCATION_STATES[state].label,
  })),
];

interface AllocationsFilterProps {
  filter: AllocationsSearch;
  onChange: (change: { [Name in keyof AllocationsSearch]?: AllocationsSearch[Name] | undefined }) => void;
}

export function AllocationsFilter({ filter, onChange }: AllocationsFilterProps) {
  return (
    <div className="grid items-end gap-3 sm:grid-cols-[1fr_13rem]">
      <Field
        label="Find"
        value={filter.find ?? ''}
        onChange={(find) => onChange({ find: find || undefined })}
        placeholder="Name, SKU, region or image"
      />
      <div className="flex flex-col gap-1.5">
        <Select
          label="State"
          value={filter.state ?? ALL}
          onChange={(state) => onChange({ state: state === ALL ? undefined : state })}
          options={OPTIONS}
        />
      </div>
    </div>
  );
}
