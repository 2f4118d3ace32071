import { useState } from 'react';
import { attachIngress } from '../../api/allocations/ingress.ts';
import { allocationKeys } from '../../api/query-keys.ts';
import { useProjectDisabledReason } from '../../api/me.ts';
import type { Allocation } from '../../api/types.ts';
import { useRefreshingMutation } from '../../api/use-refreshing-mutation.ts';
import { Button } from '../../ui/actions/button.tsx';
import { Field } from '../../ui/forms/field.tsx';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { Select } from '../../ui/forms/select.tsx';

const PROTOCOLS = [
  { value: 'tcp', label: 'TCP' },
  { value: 'udp', label: 'UDP' },
] as const;

/** Forwards a port of a public address to the machine. */
export function AttachIngress({ allocation }: { allocation: Allocation }) {
  const [open, setOpen] = useState(false);
  const [machine, setMachine] = useState('');
  const [outside, setOutside] = useState('');
  const [protocol, setProtocol] = useState<'tcp' | 'udp'>('tcp');
  const refusal = useProjectDisabledReason(allocation.project_id, 'ingress.manage');
  const attach = useRefreshingMutation({
    mutationFn: attachIngress,
    refreshes: [allocationKeys.ingress(allocation.id)],
    onSuccess: () => setOpen(false),
  });
  const wrong = machine === '' ? 'Enter the machine port.' : (portRefusal(machine) ?? portRefusal(outside));
  return (
    <>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        Expose port
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="Expose a port"
        submitLabel="Expose"
        refusal={wrong}
        busy={attach.isPending}
        error={attach.error}
        onSubmit={() =>
          attach.mutate({
            allocationId: allocation.id,
            machinePort: Number(machine),
            publicPort: outside === '' ? undefined : Number(outside),
            protocol,
          })
        }
      >
        <Field
          label="Machine port"
          value={machine}
          onChange={setMachine}
          refusal={portRefusal(machine)}
          hint="SSH works without a public port."
        />
        <Field
          label="Public port"
          optional
          value={outside}
          onChange={setOutside}
          refusal={portRefusal(outside)}
          hint="Leave empty to use the same port."
        />
        <div className="flex flex-col gap-1.5">
          <Select
            label="Protocol"
            value={protocol}
            onChange={(next) => setProtocol(next === 'udp' ? 'udp' : 'tcp')}
            options={[...PROTOCOLS]}
          />
        </div>
      </FormDialog>
    </>
  );
}

function portRefusal(typed: string): string | null {
  const known = /^\d{1,5}$/.test(typed) && Number(typed) >= 1 && Number(typed) <= 65_535;
  return typed === '' || known ? null : 'Enter a number from 1 to 65535.';
}
