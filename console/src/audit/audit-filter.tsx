import { useState } from 'react';
import type { AuditSearch } from '../search-params.ts';
import { humanize } from '../format/humanize.ts';
import { Button } from '../ui/actions/button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { Select } from '../ui/forms/select.tsx';

interface AuditFilterProps {
  filter: AuditSearch;
  onChange: (filter: AuditSearch) => void;
}

const ANY = 'any';
const RESULTS = ['succeeded', 'refused', 'denied', 'failed'] as const;

/** Filters an audit log; the filter is part of the URL. */
export function AuditFilter({ filter, onChange }: AuditFilterProps) {
  const [action, setAction] = useState(filter.action ?? '');
  const [target, setTarget] = useState(filter.target_id ?? '');
  return (
    <form
      aria-label="Filter"
      className="grid items-end gap-3 sm:grid-cols-[1fr_1fr_12rem_auto]"
      onSubmit={(event) => {
        event.preventDefault();
        const { action: _a, target_id: _t, ...rest } = filter;
        onChange({
          ...rest,
          ...(action.trim() ? { action: action.trim() } : {}),
          ...(target.trim() ? { target_id: target.trim() } : {}),
        });
      }}
    >
      <Field
        label="Action"
        value={action}
        onChange={setAction}
        placeholder="allocation.create"
        maxLength={64}
      />
      <Field label="Target id" value={target} onChange={setTarget} maxLength={128} />
      <div className="flex flex-col gap-1.5">
        <Select
          label="Result"
          value={filter.result ?? ANY}
          onChange={(next) => {
            const { result: _result, ...rest } = filter;
            onChange(next === ANY ? rest : { ...rest, result: next });
          }}
          options={[
            { value: ANY, label: 'Any result' },
            ...RESULTS.map((result) => ({ value: result, label: humanize(result) })),
          ]}
        />
      </div>
      <Button type="submit" className="h-9!">
        Filter
      </Button>
    </form>
  );
}
