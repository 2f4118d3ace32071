import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NewPrice as NewPriceBody } from '../api/catalog/catalog-admin.ts';
import { regionsQuery } from '../api/catalog/catalog.ts';
import { productsQuery } from '../api/catalog/products.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import { parseMicros } from '../format/money.ts';
import { DialogButton } from '../ui/forms/dialog-button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { ConfirmPrice } from './confirm-price.tsx';
import { ProductField, RegionField, StartField } from './offer-fields.tsx';

/** Adds a list price, or one tenant's. */
export function NewPrice({ organizationId }: { organizationId: string | undefined }) {
  const refusal = usePlatformDisabledReason('price.manage');
  const label = organizationId ? 'Add tenant price' : 'Add price';
  return (
    <DialogButton variant="primary" label={label} disabledReason={refusal}>
      {(close) => <NewPriceForm organizationId={organizationId} onClose={close} />}
    </DialogButton>
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
  const micros = parseMicros(amount);
  const [review, setReview] = useState<NewPriceBody | null>(null);
  const missing =
    !sku || !region ? 'No products yet.' : micros === null || micros < 0 ? 'Enter a price.' : null;
  const submit = () => {
    if (!sku || !region || micros === null) return;
    setReview({
      sku,
      region,
      per_gpu_hour: { currency: 'USD', micros },
      ...(organizationId ? { organization_id: organizationId } : {}),
      ...(from ? { effective_from: new Date(from).toISOString() } : {}),
      ...(reason.trim() ? { reason: reason.trim() } : {}),
    });
  };
  if (review) return <ConfirmPrice price={review} onBack={() => setReview(null)} onAdded={onClose} />;
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Add price"
      submitLabel="Review"
      refusal={missing}
      busy={false}
      error={null}
      onSubmit={submit}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <ProductField items={products} value={sku} onChange={setSku} />
        <RegionField items={regions} value={region} onChange={setRegion} />
        <Field label="USD per GPU hour" value={amount} onChange={setAmount} placeholder="2.99" />
        <StartField value={from} onChange={setFrom} />
      </div>
      <Field label="Reason" optional value={reason} onChange={setReason} maxLength={500} />
    </FormDialog>
  );
}
