import { Select as BaseSelect } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';

export interface SelectOption<Value extends string> {
  value: Value;
  label: string;
  /** A second line in the list. */
  hint?: string;
  /** Why it cannot be chosen now. */
  disabledReason?: string | null;
}

interface SelectProps<Value extends string> {
  label: string;
  /** For a label that the surroundings already show. */
  hideLabel?: boolean;
  options: SelectOption<Value>[];
  value: Value | null;
  placeholder?: string;
  onChange: (value: Value) => void;
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, hideLabel, options, value, placeholder, onChange } = props;
  return (
    <BaseSelect.Root<Value>
      items={options}
      value={value}
      onValueChange={(next) => next !== null && onChange(next)}
      modal={false}
    >
      <BaseSelect.Label className={hideLabel ? 'sr-only' : 'text-sm font-medium'}>{label}</BaseSelect.Label>
      <BaseSelect.Trigger className="flex h-9 w-full min-w-44 items-center justify-between gap-2 rounded-md border border-line-strong bg-surface px-3 text-left text-sm hover:bg-hover">
        <BaseSelect.Value placeholder={placeholder ?? 'Choose'} className="truncate" />
        <BaseSelect.Icon className="text-ink-faint">
          <ChevronsUpDown aria-hidden className="size-3.5" />
        </BaseSelect.Icon>
      </BaseSelect.Trigger>
      <BaseSelect.Portal>
        <BaseSelect.Positioner sideOffset={4} alignItemWithTrigger={false} className="z-50">
          <BaseSelect.Popup className="max-h-(--available-height) min-w-(--anchor-width) overflow-y-auto rounded-lg border border-line bg-raised p-1 text-sm shadow-pop outline-none">
            <BaseSelect.List>
              {options.map((option) => (
                <Option key={option.value} {...option} />
              ))}
            </BaseSelect.List>
          </BaseSelect.Popup>
        </BaseSelect.Positioner>
      </BaseSelect.Portal>
    </BaseSelect.Root>
  );
}

function Option<Value extends string>({ value, label, hint, disabledReason }: SelectOption<Value>) {
  const secondLine = disabledReason ?? hint;
  return (
    <BaseSelect.Item
      value={value}
      label={label}
      disabled={Boolean(disabledReason)}
      className="grid grid-cols-[1rem_1fr] items-baseline gap-x-2 rounded-md px-2 py-1.5 outline-none data-disabled:cursor-not-allowed data-disabled:text-ink-faint data-highlighted:bg-hover"
    >
      <BaseSelect.ItemIndicator className="col-start-1 self-center text-accent-text">
        <Check aria-hidden className="size-3.5" />
      </BaseSelect.ItemIndicator>
      <BaseSelect.ItemText className="col-start-2">{label}</BaseSelect.ItemText>
      {secondLine && <span className="col-start-2 text-xs text-ink-faint">{secondLine}</span>}
    </BaseSelect.Item>
  );
}
