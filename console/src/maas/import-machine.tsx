import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { regionsQuery } from '../api/catalog.ts';
import { importMachine } from '../api/maas.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { MaasMachine, NodeOnboarding } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Select } from '../ui/select.tsx';

type Profile = NodeOnboarding['profile'];

const PROFILES: { value: Profile; label: string }[] = [
  { value: 'slice_vm', label: 'GPU slices' },
  { value: 'baremetal', label: 'Whole hosts' },
];

/** Makes a machine a host. Why that is not possible now is what MAAS says of it. */
export function ImportMachine({ machine }: { machine: MaasMachine }) {
  const [open, setOpen] = useState(false);
  const [profile, setProfile] = useState<Profile>(machine.profile ?? 'slice_vm');
  const [rack, setRack] = useState('');
  const [chosen, setRegion] = useState<string | null>(null);
  const refusal = usePlatformRefusal('fleet.enrol');
  const regions = useQuery(regionsQuery).data ?? [];
  const region = chosen ?? regions[0]?.region ?? null;
  const bring = useChange({
    mutationFn: importMachine,
    refreshes: [operatorKeys.onboardings, operatorKeys.maasMachines],
    onSuccess: () => setOpen(false),
  });
  return (
    <RowActions>
      <Button size="sm" disabledReason={refusal ?? machine.import_refusal} onClick={() => setOpen(true)}>
        Import
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title={`Import ${machine.hostname}`}
        submitLabel="Import"
        refusal={region ? null : 'Choose a region.'}
        busy={bring.isPending}
        error={bring.error}
        onSubmit={() =>
          region &&
          bring.mutate({
            systemId: machine.system_id,
            profile,
            region,
            ...(rack.trim() ? { rack: rack.trim() } : {}),
          })
        }
      >
        <p className="text-sm text-ink-muted">
          It is commissioned, tested and installed anew: what is on its disks is lost.
        </p>
        <div className="flex flex-col gap-1.5">
          <Select label="Sold as" value={profile} onChange={setProfile} options={PROFILES} />
        </div>
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
      </FormDialog>
    </RowActions>
  );
}
