import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { regionsQuery, skusQuery } from '../api/catalog/catalog.ts';
import { projectKeys } from '../api/query-keys.ts';
import { createReservation } from '../api/allocations/reservations.ts';
import { useProjectDisabledReason } from '../api/me.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { ProductField, RegionField } from '../catalog/offer-fields.tsx';
import { DialogButton } from '../ui/forms/dialog-button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';

interface NewReservationProps {
  organizationId: string;
  projectId: string;
}

export function NewReservationButton(props: NewReservationProps) {
  const refusal = useProjectDisabledReason(props.projectId, 'reservation.manage');
  return (
    <DialogButton label="Reserve hosts" disabledReason={refusal}>
      {(close) => <NewReservation {...props} onClose={close} />}
    </DialogButton>
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
  const make = useRefreshingMutation({
    mutationFn: createReservation,
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
        Reserves whole hosts for this project for a period. Reserving is not billed, but part of your balance
        is held for the hosts while they are unused. Launches on them are billed as usual. A reservation that
        is not used lapses.
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        <ProductField items={skus} value={sku} onChange={setSku} />
        <RegionField items={regions} value={region} onChange={setRegion} />
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
  if (!sku || !region) return 'No products can be reserved.';
  if (!from || !to) return 'Enter start and end.';
  if (Date.parse(to) <= Date.parse(from)) return 'The end must be after the start.';
  if (!Number.isInteger(Number(hosts)) || Number(hosts) < 1) return 'Enter the number of hosts.';
  return reason.trim() ? null : 'Enter a reason.';
}
