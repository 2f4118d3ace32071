import { useState } from 'react';
import { keysOf } from '../typed-keys.ts';
import { addAppUsagePrice, type AppUsageDimension } from '../api/billing/app-usage.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { DIMENSIONS } from '../format/dimensions.ts';
import { parseMicros } from '../format/money.ts';
import { DialogButton } from '../ui/forms/dialog-button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { Select } from '../ui/forms/select.tsx';
import { StartField } from './offer-fields.tsx';

const NAME = /^[a-z0-9][a-z0-9._-]*$/;

export function NewAppPrice() {
  const refusal = usePlatformDisabledReason('price.manage');
  return (
    <DialogButton label="Add app price" disabledReason={refusal}>
      {(close) => <NewAppPriceForm onClose={close} />}
    </DialogButton>
  );
}

function NewAppPriceForm({ onClose }: { onClose: () => void }) {
  const [app, setApp] = useState('');
  const [dimension, setDimension] = useState<AppUsageDimension>('tokens');
  const [amount, setAmount] = useState('');
  const [per, setPer] = useState('1000000');
  const [from, setFrom] = useState('');
  const micros = parseMicros(amount);
  const add = useRefreshingMutation({
    mutationFn: addAppUsagePrice,
    refreshes: [operatorKeys.appUsagePrices],
    onSuccess: onClose,
  });
  const submit = () => {
    if (micros === null) return;
    add.mutate({
      app,
      dimension,
      price: { currency: 'USD', micros },
      per: Number(per),
      ...(from ? { effective_from: new Date(from).toISOString() } : {}),
    });
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Add app price"
      submitLabel="Add"
      refusal={whatIsMissing({ app, micros, per })}
      busy={add.isPending}
      error={add.error}
      onSubmit={submit}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="App" value={app} onChange={setApp} placeholder="chat" maxLength={63} />
        <div className="flex flex-col gap-1.5">
          <Select
            label="Charged by"
            value={dimension}
            onChange={setDimension}
            options={keysOf(DIMENSIONS).map((value) => ({ value, label: DIMENSIONS[value].label }))}
          />
        </div>
        <Field label="USD" value={amount} onChange={setAmount} placeholder="0.50" />
        <Field label={`Per (${DIMENSIONS[dimension].many})`} value={per} onChange={setPer} />
        <StartField value={from} onChange={setFrom} />
      </div>
    </FormDialog>
  );
}

function whatIsMissing(typed: { app: string; micros: number | null; per: string }): string | null {
  if (!NAME.test(typed.app)) return 'Enter the app id: lower-case letters, digits, dots and dashes.';
  if (typed.micros === null || typed.micros < 0) return 'Enter a price.';
  return /^[1-9]\d{0,8}$/.test(typed.per) ? null : 'Enter a whole number of units.';
}
