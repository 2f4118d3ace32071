import type { AllocationsSearch } from '../search-params.ts';
import { Field } from '../ui/field.tsx';
import { StateSelect } from './state-select.tsx';

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
      <StateSelect value={filter.state} onChange={(state) => onChange({ state })} />
    </div>
  );
}
