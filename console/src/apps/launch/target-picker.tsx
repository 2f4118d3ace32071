import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import type { AppTarget } from '../../api/types.ts';
import { humanize, pluralize } from '../../format/humanize.ts';
import { formatMoney } from '../../format/money.ts';
import type { Fit } from './smallest-fit.ts';
import { targetRefusal } from './target-refusal.ts';

interface TargetPickerProps {
  targets: AppTarget[];
  chosen: string | null;
  onChange: (allocationId: string) => void;
  /** The smallest new allocation that the app can run on. */
  fit: Fit | null;
}

/** Chooses the allocation to run on. One that does not fit is disabled and says why. */
export function TargetPicker({ targets, chosen, onChange, fit }: TargetPickerProps) {
  const group = useId();
  return (
    <fieldset>
      <legend className="mb-2 text-sm font-medium">Allocation</legend>
      <div className="flex flex-col gap-2">
        {targets.length === 0 && (
          <p className="text-sm text-ink-muted">The project has no allocation to run it on.</p>
        )}
        {targets.map((target) => (
          <Target
            key={target.allocation_id}
            target={target}
            group={group}
            checked={target.allocation_id === chosen}
            onChange={onChange}
          />
        ))}
        {fit && (
          <p className="text-sm text-ink-muted">
            Or{' '}
            <Link
              to="/launch"
              search={(old) => ({ ...old, sku: fit.sku.sku, gpus: fit.gpus })}
              className="text-accent-text underline"
            >
              launch a new allocation of {pluralize(fit.gpus, 'GPU')}
            </Link>{' '}
            for {formatMoney(fit.perHour)} per hour.
          </p>
        )}
      </div>
    </fieldset>
  );
}

interface TargetProps {
  target: AppTarget;
  group: string;
  checked: boolean;
  onChange: (allocationId: string) => void;
}

function Target({ target, group, checked, onChange }: TargetProps) {
  const refusal = targetRefusal(target);
  const shape = target.capacity_shape === 'baremetal' ? 'whole host' : 'slice';
  return (
    <label className={CARD} data-disabled={refusal !== null}>
      <input
        type="radio"
        name={group}
        className="absolute inset-0 cursor-[inherit] appearance-none rounded-md outline-none"
        checked={checked}
        disabled={refusal !== null}
        onChange={() => onChange(target.allocation_id)}
        aria-label={refusal ? `${target.name}, ${refusal}` : target.name}
      />
      <span className="flex items-baseline justify-between gap-3">
        <span className="font-semibold">{target.name}</span>
        <span className="text-xs text-ink-faint">{humanize(target.state)}</span>
      </span>
      <span className="text-sm text-ink-muted">
        {pluralize(target.gpu_count, 'GPU')}, {shape}
      </span>
      {refusal && <span className="tone-warn text-xs text-tone-text">{refusal}</span>}
      {!refusal && target.gate && (
        <span className="tone-warn text-xs text-tone-text">It would wait. {target.gate.message}</span>
      )}
    </label>
  );
}

const CARD =
  'relative flex cursor-pointer flex-col gap-1 rounded-md border border-line-strong bg-surface p-3.5 hover:bg-hover ' +
  'has-checked:border-accent has-checked:bg-accent-wash data-[disabled=true]:cursor-not-allowed data-[disabled=true]:border-dashed ' +
  'has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent';
