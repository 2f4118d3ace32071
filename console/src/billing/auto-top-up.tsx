import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { autoTopUpQuery, paymentMethodsQuery, setAutoTopUp } from '../api/payments.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationRefusal } from '../api/session.ts';
import type { AutoTopUp, PaymentMethod } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { formatMoney, microsOf, typedOf } from '../format/money.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Notice } from '../ui/notice.tsx';
import { Select } from '../ui/select.tsx';

/** Tops the balance up by itself, from a payment method that was kept. */
export function AutoTopUpButton({ organizationId }: { organizationId: string }) {
  const [open, setOpen] = useState(false);
  const methods = useInfiniteQuery(paymentMethodsQuery(organizationId)).data ?? [];
  const { data: known } = useQuery(autoTopUpQuery(organizationId));
  const refusal =
    useOrganizationRefusal(organizationId, 'payment.create') ??
    (methods.length === 0 ? 'Top up once and keep what you pay with.' : null);
  return (
    <>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        {known?.enabled ? `Tops up below ${formatMoney(known.threshold)}` : 'Automatic top-up'}
      </Button>
      {open && (
        <AutoTopUpForm
          organizationId={organizationId}
          methods={methods}
          known={known ?? null}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

interface AutoTopUpFormProps {
  organizationId: string;
  methods: PaymentMethod[];
  known: AutoTopUp | null;
  onClose: () => void;
}

function AutoTopUpForm({ organizationId, methods, known, onClose }: AutoTopUpFormProps) {
  const currency = known?.amount.currency ?? 'USD';
  const [enabled, setEnabled] = useState(known?.enabled ?? true);
  const [method, setMethod] = useState(known?.payment_method_id ?? methods[0]?.id ?? null);
  const [threshold, setThreshold] = useState(typedOf(known?.threshold, '50'));
  const [amount, setAmount] = useState(typedOf(known?.amount, '200'));
  const [cap, setCap] = useState(typedOf(known?.monthly_cap, '1000'));
  const set = useChange({
    mutationFn: setAutoTopUp,
    refreshes: [organizationKeys.payments(organizationId)],
    onSuccess: onClose,
  });
  const micros = [threshold, amount, cap].map(microsOf);
  const wrong = micros.some((one) => one === null || one <= 0) ? 'Fill in the three amounts.' : null;
  const submit = () => {
    const [below, each, most] = micros;
    if (!method || !below || !each || !most) return;
    set.mutate({
      organization_id: organizationId,
      enabled,
      payment_method_id: method,
      threshold: { currency, micros: below },
      amount: { currency, micros: each },
      monthly_cap: { currency, micros: most },
    });
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Automatic top-up"
      submitLabel="Save"
      refusal={wrong ?? (method ? null : 'Choose what is charged.')}
      busy={set.isPending}
      error={set.error}
      onSubmit={submit}
    >
      <label className="flex items-center gap-2 text-sm">
        <input type="checkbox" checked={enabled} onChange={({ target }) => setEnabled(target.checked)} />
        Charge me when the balance runs low
      </label>
      <div className="flex flex-col gap-1.5">
        <Select
          label="Charged to"
          value={method}
          onChange={setMethod}
          options={methods.map(({ id, label }) => ({ value: id, label }))}
        />
      </div>
      <div className="grid gap-4 sm:grid-cols-3">
        <Field label={`Below (${currency})`} value={threshold} onChange={setThreshold} />
        <Field label={`Charge (${currency})`} value={amount} onChange={setAmount} />
        <Field label={`At most a month (${currency})`} value={cap} onChange={setCap} />
      </div>
      {known?.last_failure && (
        <Notice tone="warn" title="The last charge failed">
          <p>{known.last_failure}</p>
        </Notice>
      )}
    </FormDialog>
  );
}
