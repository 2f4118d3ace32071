import { useState } from 'react';
import { usePlatformDisabledReason } from '../api/me.ts';
import { adjustLedger } from '../api/organization/tenants.ts';
import type { Tenant } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { formatMoney, parseMicros } from '../format/money.ts';
import { Button } from '../ui/actions/button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { Notice } from '../ui/feedback/notice.tsx';
import { Select } from '../ui/forms/select.tsx';

const KINDS = [
  { value: 'credit' as const, label: 'Credit', hint: 'Increases the balance' },
  { value: 'adjustment' as const, label: 'Correction', hint: 'Increases or decreases the balance' },
];

/** Gives a tenant credit, or corrects its balance. */
export function AdjustLedger({ tenant }: { tenant: Tenant }) {
  const [open, setOpen] = useState(false);
  const [kind, setKind] = useState<'credit' | 'adjustment'>('credit');
  const [amount, setAmount] = useState('');
  const [currency, setCurrency] = useState('USD');
  const [reason, setReason] = useState('');
  const refusal = usePlatformDisabledReason('billing.adjust');
  const adjust = useRefreshingMutation({
    mutationFn: adjustLedger,
    refreshes: [],
    onSuccess: () => setOpen(false),
  });
  const micros = parseMicros(amount);
  const missing =
    micros === null || micros === 0
      ? 'Enter an amount.'
      : kind === 'credit' && micros < 0
        ? 'Credit must be positive.'
        : reason.trim().length < 3
          ? 'Enter a reason. The tenant can see it.'
          : null;
  return (
    <>
      <Button variant="primary" disabledReason={refusal} onClick={() => setOpen(true)}>
        Adjust balance
      </Button>
      {adjust.data && (
        <Notice tone="info" title={`${formatMoney(adjust.data.amount)} posted`}>
          <p>{adjust.data.reason}</p>
        </Notice>
      )}
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title={`Adjust the balance of ${tenant.name}`}
        submitLabel="Post"
        refusal={missing}
        busy={adjust.isPending}
        error={adjust.error}
        onSubmit={() =>
          micros !== null &&
          adjust.mutate({
            organizationId: tenant.id,
            kind,
            amount: { currency: currency.trim().toUpperCase(), micros },
            reason: reason.trim(),
          })
        }
      >
        <div className="flex flex-col gap-1.5">
          <Select label="Kind" value={kind} onChange={setKind} options={KINDS} />
        </div>
        <div className="grid gap-4 sm:grid-cols-[1fr_7rem]">
          <Field label="Amount" value={amount} onChange={setAmount} placeholder="500.00" />
          <Field label="Currency" value={currency} onChange={setCurrency} maxLength={3} />
        </div>
        <Field label="Reason" rows={2} value={reason} onChange={setReason} maxLength={500} />
      </FormDialog>
    </>
  );
}
