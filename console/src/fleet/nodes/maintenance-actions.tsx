import { useState } from 'react';
import { cancelMaintenance, recordBurnIn, scheduleMaintenance } from '../../api/fleet/node-operations.ts';
import { fleetKeys } from '../../api/query-keys.ts';
import { usePlatformDisabledReason } from '../../api/me.ts';
import type { MaintenanceWindow } from '../../api/types.ts';
import { useRefreshingMutation } from '../../api/use-refreshing-mutation.ts';
import { Button } from '../../ui/actions/button.tsx';
import { ConfirmButton } from '../../ui/actions/confirm-button.tsx';
import { Field } from '../../ui/forms/field.tsx';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { Select } from '../../ui/forms/select.tsx';

const RESULTS = [
  { value: 'passed' as const, label: 'Passed', hint: 'The host can go into service' },
  { value: 'failed' as const, label: 'Failed', hint: 'The host is cordoned' },
];

export function RecordBurnInButton({ nodeId }: { nodeId: string }) {
  const [open, setOpen] = useState(false);
  const [result, setResult] = useState<'passed' | 'failed'>('passed');
  const [evidence, setEvidence] = useState('');
  const refusal = usePlatformDisabledReason('fleet.approve');
  const record = useRefreshingMutation({
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
        refusal={evidence.trim() ? null : 'Describe what was run and observed.'}
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

export function ScheduleMaintenanceButton({ nodeId }: { nodeId: string }) {
  const [open, setOpen] = useState(false);
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [reason, setReason] = useState('');
  const refusal = usePlatformDisabledReason('fleet.operate');
  const schedule = useRefreshingMutation({
    mutationFn: scheduleMaintenance,
    refreshes: [fleetKeys.maintenance(nodeId), fleetKeys.node(nodeId)],
    onSuccess: () => setOpen(false),
  });
  const missing =
    !from || !to
      ? 'Enter start and end.'
      : Date.parse(to) <= Date.parse(from)
        ? 'The end must be after the start.'
        : reason.trim()
          ? null
          : 'Enter a reason. Tenants can see it.';
  return (
    <>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        Schedule maintenance
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="Schedule maintenance"
        submitLabel="Schedule"
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

export function CancelMaintenanceButton({
  window: { id, node_id: nodeId, state },
}: {
  window: MaintenanceWindow;
}) {
  const refusal = usePlatformDisabledReason('fleet.operate');
  const cancel = useRefreshingMutation({
    mutationFn: () => cancelMaintenance({ id: nodeId, windowId: id }),
    refreshes: [fleetKeys.maintenance(nodeId), fleetKeys.node(nodeId)],
  });
  if (state !== 'scheduled' && state !== 'in_progress') return null;
  return (
    <span>
      <ConfirmButton
        label={state === 'scheduled' ? 'Cancel' : 'End now'}
        variant="secondary"
        title="End the maintenance?"
        confirmLabel="End maintenance"
        disabledReason={refusal}
        act={cancel}
      >
        The host returns to service immediately unless something else blocks it.
      </ConfirmButton>
    </span>
  );
}
