import { useState } from 'react';
import { addAppUsagePrice, type AppUsageDimension } from '../api/app-usage.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import { useChange } from '../api/use-change.ts';
import { DIMENSIONS } from '../format/dimensions.ts';
import { microsOf } from '../format/money.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';

const NAME = /^[a-z0-9][a-z0-9._-]*$/;

export function NewAppPrice() {
  const [open, setOpen] = useState(false);
  const refusal = usePlatformRefusal('price.manage');
  return (
    <>
      <Button disabledReason={refusal} onClick={() => setOpen(true)}>
        Price an app
      </Button>
      {open && <NewAppPriceForm onClose={() => setOpen(false)} />}
    </>
  );
}

function NewAppPriceForm({ onClose }: { onClose: () => void }) {
  const [app, setApp] = useState('');
  const [dimension, setDimension] = useState<AppUsageDimension>('tokens');
  const [amount, setAmount] = useState('');
  const [per, setPer] = useState('1000000');
  const [from, setFrom] = useState('');
  const micros = microsOf(amount);
  const add = useChange({
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
      title="Price an app"
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
            options={Object.entries(DIMENSIONS).map(([value, { label }]) => ({
              value: value as AppUsageDimension,
              label,
            }))}
          />
        </div>
        <Field label="USD" value={amount} onChange={setAmount} placeholder="0.50" />
        <Field label={`Per so many ${DIMENSIONS[dimension].many}`} value={per} onChange={setPer} />
        <Field
          label="From"
          optional
          type="datetime-local"
          value={from}
          onChange={setFrom}
          hint="Your local time; now if left empty."
        />
      </div>
    </FormDialog>
  );
}

function whatIsMissing(typed: { app: string; micros: number | null; per: string }): string | null {
  if (!NAME.test(typed.app)) return 'Name the app: small letters, digits, dots and dashes.';
  if (typed.micros === null || typed.micros < 0) return 'Say how much.';
  return /^[1-9]\d{0,8}$/.test(typed.per) ? null : 'Say for how many: a whole number.';
}
