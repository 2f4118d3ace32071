import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { regionsQuery, skusQuery } from '../api/catalog.ts';
import { projectKeys } from '../api/query-keys.ts';
import { reserve } from '../api/reservations.ts';
import { useProjectRefusal } from '../api/session.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';

interface NewReservationProps {
  organizationId: string;
  projectId: string;
}

export function NewReservationButton(props: NewReservationProps) {
  const [open, setOpen] = useState(false);
  const refusal = useProjectRefusal(props.projectId, 'reservation.manage');
  return (
    <>
      <Button disabledReason={refusal} onClick={() => setOpen(true)}>
        Reserve hosts
      </Button>
      {open && <NewReservation {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function NewReservation({
  organizationId,
  projectId,
  onClose,
}: NewReservationProps & { onClose: () => void }) {
  const skus = useQuery(skusQuery(organizationId)).data ?? [];
  const regions = (useQuery(regionsQuery).data ?? []).filter(({ status }) => status === 'enabled');
  const [chosenSku, setSku] = useState<string | null>(null);
  const [chosenRegion, setRegion] = useState<string | null>(null);
  const [hosts, setHosts] = useState('1');
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [reason, setReason] = useState('');
  const sku = chosenSku ?? skus[0]?.sku ?? null;
  const region = chosenRegion ?? regions[0]?.region ?? null;
  const make = useChange({
    mutationFn: reserve,
    refreshes: [projectKeys.reservations(projectId)],
    onSuccess: onClose,
  });
  const refusal = missing({ sku, region, hosts, from, to, reason });
  const submit = () => {
    if (!sku || !region) return;
    make.mutate({
      project_id: projectId,
      sku,
      region,
      node_count: Number(hosts),
      starts_at: new Date(from).toISOString(),
      ends_at: new Date(to).toISOString(),
      reason: reason.trim(),
    });
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Reserve hosts"
      submitLabel="Reserve"
      refusal={refusal}
      busy={make.isPending}
      error={make.error}
      onSubmit={submit}
    >
      <p className="text-sm text-ink-muted">
        Whole hosts are kept for this project: nobody else's lease reaches into the time. It costs nothing and
        ends nothing; launches in it are billed as always.
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        <div className="flex flex-col gap-1.5">
          <Select
            label="Product"
            value={sku}
            onChange={setSku}
            options={skus.map((known) => ({ value: known.sku, label: known.display_name }))}
          />
        </div>
        <div className="flex flex-col gap-1.5">
          <Select
            label="Region"
            value={region}
            onChange={setRegion}
            options={regions.map((known) => ({ value: known.region, label: known.display_name }))}
          />
        </div>
        <Field label="From" type="datetime-local" value={from} onChange={setFrom} hint="Your local time." />
        <Field label="To" type="datetime-local" value={to} onChange={setTo} />
        <Field label="Hosts" type="number" value={hosts} onChange={setHosts} />
        <Field
          label="Reason"
          value={reason}
          onChange={setReason}
          maxLength={300}
          placeholder="Training run 7"
        />
      </div>
    </FormDialog>
  );
}

interface Typed {
  sku: string | null;
  region: string | null;
  hosts: string;
  from: string;
  to: string;
  reason: string;
}

function missing({ sku, region, hosts, from, to, reason }: Typed): string | null {
  if (!sku || !region) return 'Nothing is for sale that could be kept.';
  if (!from || !to) return 'Say from when to when.';
  if (Date.parse(to) <= Date.parse(from)) return 'It has to end after it begins.';
  if (!Number.isInteger(Number(hosts)) || Number(hosts) < 1) return 'Say how many hosts.';
  return reason.trim() ? null : 'Say what it is for.';
}
