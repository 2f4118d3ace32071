import { useState } from 'react';
import { attachIngress } from '../api/ingress.ts';
import { allocationKeys } from '../api/query-keys.ts';
import { useProjectRefusal } from '../api/session.ts';
import type { Allocation } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';

const PROTOCOLS = [
  { value: 'tcp', label: 'TCP' },
  { value: 'udp', label: 'UDP' },
] as const;

/** Lets a port of a public address lead to the machine. */
export function AttachIngress({ allocation }: { allocation: Allocation }) {
  const [open, setOpen] = useState(false);
  const [machine, setMachine] = useState('');
  const [outside, setOutside] = useState('');
  const [protocol, setProtocol] = useState<'tcp' | 'udp'>('tcp');
  const refusal = useProjectRefusal(allocation.project_id, 'ingress.manage');
  const attach = useChange({
    mutationFn: attachIngress,
    refreshes: [allocationKeys.ingress(allocation.id)],
    onSuccess: () => setOpen(false),
  });
  const wrong =
    machine === '' ? 'Say which port of the machine.' : (portRefusal(machine) ?? portRefusal(outside));
  return (
    <>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        Attach a port
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="Let a public port lead here"
        submitLabel="Attach"
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
          label="Port of the machine"
          value={machine}
          onChange={setMachine}
          refusal={portRefusal(machine)}
          hint="SSH needs none: it goes through the platform."
        />
        <Field
          label="Public port"
          optional
          value={outside}
          onChange={setOutside}
          refusal={portRefusal(outside)}
          hint="The same, when left empty."
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
  return typed === '' || known ? null : 'A port is a number from 1 to 65535.';
}
