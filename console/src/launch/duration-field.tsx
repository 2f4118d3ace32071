import { Select } from '../ui/forms/select.tsx';

const HOUR = 3_600;

/** How long a lease lasts at most, in seconds. */
const DURATIONS = [
  { value: 'open', label: 'Until I release it' },
  { value: String(HOUR), label: '1 hour' },
  { value: String(4 * HOUR), label: '4 hours' },
  { value: String(12 * HOUR), label: '12 hours' },
  { value: String(24 * HOUR), label: '1 day' },
  { value: String(72 * HOUR), label: '3 days' },
  { value: String(168 * HOUR), label: '1 week' },
];

interface DurationFieldProps {
  seconds: number | undefined;
  onChange: (seconds: number | undefined) => void;
}

export function DurationField({ seconds, onChange }: DurationFieldProps) {
  const value = seconds === undefined ? 'open' : String(seconds);
  const options = DURATIONS.some((known) => known.value === value)
    ? DURATIONS
    : [...DURATIONS, { value, label: `${seconds} seconds` }];
  return (
    <div className="flex flex-col gap-1.5">
      <Select
        label="Auto-release after"
        value={value}
        onChange={(next) => onChange(next === 'open' ? undefined : Number(next))}
        options={options}
      />
      <p className="text-xs text-ink-faint">
        {seconds === undefined
          ? 'Runs and bills until you release it'
          : 'It is then wiped and released automatically'}
      </p>
    </div>
  );
}
