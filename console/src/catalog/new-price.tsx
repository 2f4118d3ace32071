import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { addPrice } from '../api/catalog-admin.ts';
import { regionsQuery } from '../api/catalog.ts';
import { productsQuery } from '../api/products.ts';
import { catalogKeys, operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import { useChange } from '../api/use-change.ts';
import { microsOf } from '../format/money.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';

/** Adds a list price, or one tenant's. */
export function NewPrice({ organizationId }: { organizationId: string | undefined }) {
  const [open, setOpen] = useState(false);
  const refusal = usePlatformRefusal('price.manage');
  return (
    <>
      <Button variant="primary" disabledReason={refusal} onClick={() => setOpen(true)}>
        {organizationId ? 'Add a price for it' : 'Add a price'}
      </Button>
      {open && <NewPriceForm organizationId={organizationId} onClose={() => setOpen(false)} />}
    </>
  );
}

interface NewPriceFormProps {
  organizationId: string | undefined;
  onClose: () => void;
}

function NewPriceForm({ organizationId, onClose }: NewPriceFormProps) {
  const products = useInfiniteQuery(productsQuery).data ?? [];
  const regions = useQuery(regionsQuery).data ?? [];
  const [chosenSku, setSku] = useState<string | null>(null);
  const [chosenRegion, setRegion] = useState<string | null>(null);
  const [amount, setAmount] = useState('');
  const [from, setFrom] = useState('');
  const [reason, setReason] = useState('');
  const sku = chosenSku ?? products[0]?.sku ?? null;
  const region = chosenRegion ?? regions[0]?.region ?? null;
  const micros = microsOf(amount);
  const add = useChange({
    mutationFn: addPrice,
    refreshes: [operatorKeys.prices, catalogKeys.skus],
    onSuccess: onClose,
  });
  const missing =
    !sku || !region ? 'There is nothing to price.' : micros === null || micros < 0 ? 'Say how much.' : null;
  const submit = () => {
    if (!sku || !region || micros === null) return;
    add.mutate({
      sku,
      region,
      per_gpu_hour: { currency: 'USD', micros },
      ...(organizationId ? { organization_id: organizationId } : {}),
      ...(from ? { effective_from: new Date(from).toISOString() } : {}),
      ...(reason.trim() ? { reason: reason.trim() } : {}),
    });
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Add a price"
      submitLabel="Add"
      refusal={missing}
      busy={add.isPending}
      error={add.error}
      onSubmit={submit}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <div className="flex flex-col gap-1.5">
          <Select
            label="Product"
            value={sku}
            onChange={setSku}
            options={products.map((known) => ({ value: known.sku, label: known.display_name }))}
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
        <Field label="USD per GPU hour" value={amount} onChange={setAmount} placeholder="2.99" />
        <Field
          label="From"
          optional
          type="datetime-local"
          value={from}
          onChange={setFrom}
          hint="Your local time; now if left empty."
        />
      </div>
      <Field label="Reason" optional value={reason} onChange={setReason} maxLength={500} />
    </FormDialog>
  );
}
