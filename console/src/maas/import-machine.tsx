import { useState } from 'react';
import { importMachine } from '../api/maas.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { MaasMachine, NodeOnboarding } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { useHostPlace } from '../operator/host-place.tsx';
import { Button } from '../ui/button.tsx';
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
  const where = useHostPlace();
  const refusal = usePlatformRefusal('fleet.enrol');
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
        refusal={where.refusal}
        busy={bring.isPending}
        error={bring.error}
        onSubmit={() => where.place && bring.mutate({ systemId: machine.system_id, profile, ...where.place })}
      >
        <p className="text-sm text-ink-muted">
          It is commissioned, tested and installed anew: what is on its disks is lost.
        </p>
        <div className="flex flex-col gap-1.5">
          <Select label="Sold as" value={profile} onChange={setProfile} options={PROFILES} />
        </div>
        {where.fields}
      </FormDialog>
    </RowActions>
  );
}
