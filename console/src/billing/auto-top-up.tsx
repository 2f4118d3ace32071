import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { autoTopUpQuery, paymentMethodsQuery, setAutoTopUp } from '../api/billing/payments.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationDisabledReason } from '../api/me.ts';
import type { AutoTopUp, PaymentMethod } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { formatMoney, parseMicros, toInputValue } from '../format/money.ts';
import { Button } from '../ui/actions/button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { Notice } from '../ui/feedback/notice.tsx';
import { Select } from '../ui/forms/select.tsx';

/** Tops the balance up automatically, from a saved payment method. */
export function AutoTopUpButton({ organizationId }: { organizationId: string }) {
  const [open, setOpen] = useState(false);
  const methods = useInfiniteQuery(paymentMethodsQuery(organizationId)).data ?? [];
  const { data: known } = useQuery(autoTopUpQuery(organizationId));
  const refusal =
    useOrganizationDisabledReason(organizationId, 'payment.create') ??
    (methods.length === 0 ? 'Top up once and save your payment method first.' : null);
  return (
    <>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        {known?.enabled ? `Auto top-up below ${formatMoney(known.threshold)}` : 'Automatic top-up'}
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
  const [threshold, setThreshold] = useState(toInputValue(known?.threshold, '50'));
  const [amount, setAmount] = useState(toInputValue(known?.amount, '200'));
  const [cap, setCap] = useState(toInputValue(known?.monthly_cap, '1000'));
  const set = useRefreshingMutation({
    mutationFn: setAutoTopUp,
    refreshes: [organizationKeys.payments(organizationId)],
    onSuccess: onClose,
  });
  const micros = [threshold, amount, cap].map(parseMicros);
  const wrong = micros.some((one) => one === null || one <= 0) ? 'Enter all three amounts.' : null;
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
      refusal={wrong ?? (method ? null : 'Choose a payment method.')}
      busy={set.isPending}
      error={set.error}
      onSubmit={submit}
    >
      <label className="flex items-center gap-2 text-sm">
        <input type="checkbox" checked={enabled} onChange={({ target }) => setEnabled(target.checked)} />
        Top up automatically when the balance is low
      </label>
      <div className="flex flex-col gap-1.5">
        <Select
          label="Payment method"
          value={method}
          onChange={setMethod}
          options={methods.map(({ id, label }) => ({ value: id, label }))}
        />
      </div>
      <div className="grid gap-4 sm:grid-cols-3">
        <Field label={`When balance is below (${currency})`} value={threshold} onChange={setThreshold} />
        <Field label={`Top-up amount (${currency})`} value={amount} onChange={setAmount} />
        <Field label={`Monthly limit (${currency})`} value={cap} onChange={setCap} />
      </div>
      {known?.last_failure && (
        <Notice tone="warn" title="Last charge failed">
          <p>{known.last_failure}</p>
        </Notice>
      )}
    </FormDialog>
  );
}
