import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { regionsQuery } from '../api/catalog/catalog.ts';
import { Field } from '../ui/forms/field.tsx';
import { Select } from '../ui/forms/select.tsx';

export interface HostLocation {
  region: string;
  rack?: string;
}

/** Location of a new host: its region, by default the first, and its rack if known. */
export function useHostLocation() {
  const [rack, setRack] = useState('');
  const [chosen, setRegion] = useState<string | null>(null);
  const regions = useQuery(regionsQuery).data ?? [];
  const region = chosen ?? regions[0]?.region ?? null;
  const named = rack.trim();
  const place: HostLocation | null = region ? { region, ...(named ? { rack: named } : {}) } : null;
  const fields = (
    <>
      <div className="flex flex-col gap-1.5">
        <Select
          label="Region"
          value={region}
          onChange={setRegion}
          options={regions.map((known) => ({
            value: known.region,
            label: known.display_name,
            hint: known.region,
          }))}
        />
      </div>
      <Field label="Rack" optional value={rack} onChange={setRack} maxLength={63} placeholder="rack-a1" />
    </>
  );
  return { place, fields, refusal: place ? null : 'Choose a region.' };
}
