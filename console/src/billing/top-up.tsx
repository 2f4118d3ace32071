import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { paymentOptionsQuery, payWithTestCard, topUp } from '../api/billing/payments.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationDisabledReason } from '../api/me.ts';
import type { Payment, TestCard } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { formatMoney, parseMicros } from '../format/money.ts';
import { humanize } from '../format/humanize.ts';
import { Button } from '../ui/actions/button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { Notice } from '../ui/feedback/notice.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Select } from '../ui/forms/select.tsx';

/** The answers that a payment, and the money it brings, make out of date. */
function moneyKeys(organizationId: string) {
  return [
    organizationKeys.payments(organizationId),
    organizationKeys.spend(organizationId),
    organizationKeys.ledger(organizationId),
  ];
}

export function TopUpButton({ organizationId }: { organizationId: string }) {
  const [open, setOpen] = useState(false);
  const [amount, setAmount] = useState('100');
  const [keep, setKeep] = useState(true);
  const permission = useOrganizationDisabledReason(organizationId, 'payment.create');
  const options = useQuery(paymentOptionsQuery(organizationId)).data;
  const begin = useRefreshingMutation({
    mutationFn: topUp,
    refreshes: moneyKeys(organizationId),
    onSuccess: (payment) => {
      if (payment.checkout_url) location.assign(payment.checkout_url);
      else if (payment.provider !== 'test') setOpen(false);
    },
  });
  const payment = begin.data;
  const close = () => {
    setOpen(false);
    begin.reset();
  };
  const noProvider =
    options && !options.provider ? 'Online payment is not available. Contact the operator.' : null;
  const micros = parseMicros(amount);
  const currency = options?.minimum.currency ?? 'USD';
  return (
    <>
      <Button
        size="sm"
        variant="primary"
        disabledReason={permission ?? noProvider}
        onClick={() => setOpen(true)}
      >
        Top up
      </Button>
      {payment?.provider === 'test' && open ? (
        <TestCardDialog payment={payment} onClose={close} />
      ) : (
        <FormDialog
          open={open}
          onClose={close}
          title="Top up the balance"
          submitLabel="Continue to payment"
          refusal={micros === null || micros <= 0 ? 'Enter an amount.' : null}
          busy={begin.isPending}
          error={begin.error}
          onSubmit={() =>
            micros !== null &&
            begin.mutate({ organization_id: organizationId, amount: { currency, micros }, keep_method: keep })
          }
        >
          <Field
            label={`Amount in ${currency}`}
            value={amount}
            onChange={setAmount}
            hint={
              options && `${formatMoney(options.minimum)} to ${formatMoney(options.maximum)} per payment.`
            }
          />
          <label className="flex items-center gap-2 text-sm">
            <input type="checkbox" checked={keep} onChange={({ target }) => setKeep(target.checked)} />
            Save this card for future and automatic top-ups
          </label>
        </FormDialog>
      )}
    </>
  );
}

/** With test payments, the chosen card decides the outcome. */
function TestCardDialog({ payment, onClose }: { payment: Payment; onClose: () => void }) {
  const options = useQuery(paymentOptionsQuery(payment.organization_id)).data;
  const [card, setCard] = useState<TestCard>('accepted');
  const pay = useRefreshingMutation({
    mutationFn: payWithTestCard,
    refreshes: moneyKeys(payment.organization_id),
    onSuccess: (answer) => {
      if (!answer.failure) onClose();
    },
  });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`Pay ${formatMoney(payment.amount)}`}
      submitLabel="Pay"
      busy={pay.isPending}
      error={pay.error}
      onSubmit={() => pay.mutate({ id: payment.id, card })}
    >
      <p className="text-sm text-ink-muted">Test mode: no real payment is made.</p>
      <div className="flex flex-col gap-1.5">
        <Select
          label="Test card"
          value={card}
          onChange={setCard}
          options={(options?.test_cards ?? []).map(({ card: value, what_happens: hint }) => ({
            value,
            label: humanize(value),
            hint,
          }))}
        />
      </div>
      {pay.data?.failure && (
        <Notice tone="danger" title="Payment failed">
          <p>{pay.data.failure.detail}</p>
        </Notice>
      )}
    </FormDialog>
  );
}

/** Link to continue an open payment. */
export function ResumePayment({ payment }: { payment: Payment }) {
  const [paying, setPaying] = useState(false);
  const refusal = useOrganizationDisabledReason(payment.organization_id, 'payment.create');
  if (payment.state !== 'open') return null;
  return (
    <RowActions>
      <Button
        size="sm"
        disabledReason={refusal}
        onClick={() => (payment.checkout_url ? location.assign(payment.checkout_url) : setPaying(true))}
      >
        Pay
      </Button>
      {paying && <TestCardDialog payment={payment} onClose={() => setPaying(false)} />}
    </RowActions>
  );
}
