import { useState } from 'react';
import { importMachine } from '../api/fleet/maas.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import type { MaasMachine, NodeOnboarding } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { useHostLocation } from '../operator/host-location.tsx';
import { Button } from '../ui/actions/button.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Select } from '../ui/forms/select.tsx';

type Profile = NodeOnboarding['profile'];

const PROFILES: { value: Profile; label: string }[] = [
  { value: 'slice_vm', label: 'GPU slices' },
  { value: 'baremetal', label: 'Whole hosts' },
];

/** Turns a machine into a host. Disabled with MAAS's reason while that is not possible. */
export function ImportMachine({ machine }: { machine: MaasMachine }) {
  const [open, setOpen] = useState(false);
  const [profile, setProfile] = useState<Profile>(machine.profile ?? 'slice_vm');
  const where = useHostLocation();
  const refusal = usePlatformDisabledReason('fleet.enrol');
  const bring = useRefreshingMutation({
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
          The machine is commissioned, tested and reinstalled. All data on its disks is lost.
        </p>
        <div className="flex flex-col gap-1.5">
          <Select label="Sold as" value={profile} onChange={setProfile} options={PROFILES} />
        </div>
        {where.fields}
      </FormDialog>
    </RowActions>
  );
}
