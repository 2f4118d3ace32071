import { Field } from '../ui/forms/field.tsx';
import { Select } from '../ui/forms/select.tsx';

interface ChoiceProps<Item> {
  items: readonly Item[];
  value: string | null;
  onChange: (value: string) => void;
}

/** Chooses a product of a form's list. */
export function ProductField({ items, ...rest }: ChoiceProps<{ sku: string; display_name: string }>) {
  const options = items.map(({ sku, display_name }) => ({ value: sku, label: display_name }));
  return (
    <div className="flex flex-col gap-1.5">
      <Select label="Product" options={options} {...rest} />
    </div>
  );
}

/** Chooses a region of a form's list. */
export function RegionField({ items, ...rest }: ChoiceProps<{ region: string; display_name: string }>) {
  const options = items.map(({ region, display_name }) => ({ value: region, label: display_name }));
  return (
    <div className="flex flex-col gap-1.5">
      <Select label="Region" options={options} {...rest} />
    </div>
  );
}

/** When a price begins; empty for now. */
export function StartField(props: { value: string; onChange: (value: string) => void }) {
  return (
    <Field label="From" optional type="datetime-local" hint="Local time. Leave empty for now." {...props} />
  );
}
