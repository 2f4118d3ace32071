import { useState } from 'react';
import { usePlatformRefusal } from '../api/session.ts';
import { adjustLedger } from '../api/tenants.ts';
import type { Tenant } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { formatMoney, microsOf } from '../format/money.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Notice } from '../ui/notice.tsx';
import { Select } from '../ui/select.tsx';

const KINDS = [
  { value: 'credit' as const, label: 'Credit', hint: 'Raises the balance' },
  { value: 'adjustment' as const, label: 'Correction', hint: 'Moves the balance either way' },
];

/** Gives a tenant credit, or corrects its balance. */
export function AdjustLedger({ tenant }: { tenant: Tenant }) {
  const [open, setOpen] = useState(false);
  const [kind, setKind] = useState<'credit' | 'adjustment'>('credit');
  const [amount, setAmount] = useState('');
  const [currency, setCurrency] = useState('USD');
  const [reason, setReason] = useState('');
  const refusal = usePlatformRefusal('billing.adjust');
  const adjust = useChange({ mutationFn: adjustLedger, refreshes: [], onSuccess: () => setOpen(false) });
  const micros = microsOf(amount);
  const missing =
    micros === null || micros === 0
      ? 'Say how much.'
      : kind === 'credit' && micros < 0
        ? 'Credit is more than nothing.'
        : reason.trim().length < 3
          ? 'Say why; the tenant reads it.'
          : null;
  return (
    <>
      <Button variant="primary" disabledReason={refusal} onClick={() => setOpen(true)}>
        Give credit
      </Button>
      {adjust.data && (
        <Notice tone="info" title={`${formatMoney(adjust.data.amount)} posted`}>
          <p>{adjust.data.reason}</p>
        </Notice>
      )}
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title={`Move the balance of ${tenant.name}`}
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
