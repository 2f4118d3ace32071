import type { AllocationsSearch } from '../search-params.ts';
import { Button } from '../ui/actions/button.tsx';
import { Field } from '../ui/forms/field.tsx';
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
        placeholder="Name, SKU, region, image or tag"
      />
      <StateSelect value={filter.state} onChange={(state) => onChange({ state })} />
      {filter.tag && (
        <p className="flex items-center gap-2 text-sm text-ink-muted sm:col-span-2">
          Tagged <span className="text-ink">{filter.tag}</span>
          <Button onClick={() => onChange({ tag: undefined })}>Show all</Button>
        </p>
      )}
    </div>
  );
}
