import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { paymentOptionsQuery, payWithTestCard, topUp } from '../api/payments.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationRefusal } from '../api/session.ts';
import type { Payment, TestCard } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { formatMoney, microsOf } from '../format/money.ts';
import { inWords } from '../format/words.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Notice } from '../ui/notice.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Select } from '../ui/select.tsx';

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
  const permission = useOrganizationRefusal(organizationId, 'payment.create');
  const options = useQuery(paymentOptionsQuery(organizationId)).data;
  const begin = useChange({
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
    options && !options.provider ? 'People cannot pay by themselves here; ask the operator.' : null;
  const micros = microsOf(amount);
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
          submitLabel="Go on to pay"
          refusal={micros === null || micros <= 0 ? 'Say how much.' : null}
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
              options && `From ${formatMoney(options.minimum)} to ${formatMoney(options.maximum)} at a time.`
            }
          />
          <label className="flex items-center gap-2 text-sm">
            <input type="checkbox" checked={keep} onChange={({ target }) => setKeep(target.checked)} />
            Keep what I pay with for later and for automatic top-ups
          </label>
        </FormDialog>
      )}
    </>
  );
}

/** Where payments are tests, a card is chosen by what happens with it. */
function TestCardDialog({ payment, onClose }: { payment: Payment; onClose: () => void }) {
  const options = useQuery(paymentOptionsQuery(payment.organization_id)).data;
  const [card, setCard] = useState<TestCard>('accepted');
  const pay = useChange({
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
      <p className="text-sm text-ink-muted">Payments are tests here; no money moves.</p>
      <div className="flex flex-col gap-1.5">
        <Select
          label="Test card"
          value={card}
          onChange={setCard}
          options={(options?.test_cards ?? []).map(({ card: value, what_happens: hint }) => ({
            value,
            label: inWords(value),
            hint,
          }))}
        />
      </div>
      {pay.data?.failure && (
        <Notice tone="danger" title="The payment failed">
          <p>{pay.data.failure.detail}</p>
        </Notice>
      )}
    </FormDialog>
  );
}

/** The way back to a payment that waits for somebody to pay. */
export function PayOpen({ payment }: { payment: Payment }) {
  const [paying, setPaying] = useState(false);
  const refusal = useOrganizationRefusal(payment.organization_id, 'payment.create');
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
