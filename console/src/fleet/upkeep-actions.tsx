import { useState } from 'react';
import { cancelMaintenance, recordBurnIn, scheduleMaintenance } from '../api/node-operations.ts';
import { fleetKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { MaintenanceWindow } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';

const RESULTS = [
  { value: 'passed' as const, label: 'Passed', hint: 'The host may be sold' },
  { value: 'failed' as const, label: 'Failed', hint: 'The host is cordoned' },
];

export function RecordBurnIn({ nodeId }: { nodeId: string }) {
  const [open, setOpen] = useState(false);
  const [result, setResult] = useState<'passed' | 'failed'>('passed');
  const [evidence, setEvidence] = useState('');
  const refusal = usePlatformRefusal('fleet.approve');
  const record = useChange({
    mutationFn: recordBurnIn,
    refreshes: [fleetKeys.burnIns(nodeId), fleetKeys.node(nodeId), fleetKeys.nodes],
    onSuccess: () => setOpen(false),
  });
  return (
    <>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        Record a burn-in
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="Record a burn-in"
        submitLabel="Record"
        refusal={evidence.trim() ? null : 'Say what was run and seen.'}
        busy={record.isPending}
        error={record.error}
        onSubmit={() => record.mutate({ id: nodeId, result, evidence: evidence.trim() })}
      >
        <div className="flex flex-col gap-1.5">
          <Select label="Result" value={result} onChange={setResult} options={RESULTS} />
        </div>
        <Field label="Evidence" rows={3} value={evidence} onChange={setEvidence} maxLength={2000} />
      </FormDialog>
    </>
  );
}

export function AnnounceMaintenance({ nodeId }: { nodeId: string }) {
  const [open, setOpen] = useState(false);
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [reason, setReason] = useState('');
  const refusal = usePlatformRefusal('fleet.operate');
  const schedule = useChange({
    mutationFn: scheduleMaintenance,
    refreshes: [fleetKeys.maintenance(nodeId), fleetKeys.node(nodeId)],
    onSuccess: () => setOpen(false),
  });
  const missing =
    !from || !to
      ? 'Say from when to when.'
      : Date.parse(to) <= Date.parse(from)
        ? 'It has to end after it begins.'
        : reason.trim()
          ? null
          : 'Say why; tenants read it.';
  return (
    <>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        Announce maintenance
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="Announce maintenance"
        submitLabel="Announce"
        refusal={missing}
        busy={schedule.isPending}
        error={schedule.error}
        onSubmit={() =>
          schedule.mutate({
            id: nodeId,
            startsAt: new Date(from).toISOString(),
            endsAt: new Date(to).toISOString(),
            reason: reason.trim(),
          })
        }
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="From" type="datetime-local" value={from} onChange={setFrom} hint="Your local time." />
          <Field label="To" type="datetime-local" value={to} onChange={setTo} />
        </div>
        <Field label="Reason" rows={2} value={reason} onChange={setReason} maxLength={500} />
      </FormDialog>
    </>
  );
}

export function CallOff({ window: { id, node_id: nodeId, state } }: { window: MaintenanceWindow }) {
  const refusal = usePlatformRefusal('fleet.operate');
  const cancel = useChange({
    mutationFn: () => cancelMaintenance({ id: nodeId, windowId: id }),
    refreshes: [fleetKeys.maintenance(nodeId), fleetKeys.node(nodeId)],
  });
  if (state !== 'scheduled' && state !== 'in_progress') return null;
  return (
    <span>
      <ConfirmButton
        label={state === 'scheduled' ? 'Call off' : 'End now'}
        variant="secondary"
        title="End the maintenance?"
        confirmLabel="End it"
        disabledReason={refusal}
        act={cancel}
      >
        The host is sold again at once, if nothing else stands against it.
      </ConfirmButton>
    </span>
  );
}
