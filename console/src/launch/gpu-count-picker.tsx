import { useId } from 'react';
import { pluralize } from '../format/humanize.ts';
import { gpuCountError, type LaunchChoice } from './launch-choice.ts';

interface GpuCountPickerProps {
  choice: LaunchChoice;
  onChange: (gpus: number) => void;
}

/**
 * The sizes on sale. Sizes that do not fit now are marked; choosing one shows the reason and the
 * alternatives.
 */
export function GpuCountPicker({ choice, onChange }: GpuCountPickerProps) {
  const { sku, gpus, largestSlice, gpusAvailable } = choice;
  const stockId = useId();
  const group = useId();
  const counts = sku.allowed_gpu_counts;
  const tooLarge = counts.filter((count) => count > largestSlice);
  return (
    <fieldset aria-describedby={stockId} className="flex flex-col gap-2">
      <legend className="mb-2 text-sm font-medium">GPUs</legend>
      <div className="grid grid-cols-4 gap-1.5 sm:grid-cols-8">
        {counts.map((count) => {
          const refusal = gpuCountError(count, choice);
          return (
            <label key={count} title={refusal ?? undefined} className={SEGMENT}>
              <input
                type="radio"
                name={group}
                className="absolute inset-0 cursor-[inherit] appearance-none rounded-md outline-none"
                value={count}
                checked={count === gpus}
                data-full={refusal !== null}
                onChange={() => onChange(count)}
                aria-label={refusal ? `${pluralize(count, 'GPU')}, ${refusal}` : pluralize(count, 'GPU')}
              />
              {count}
            </label>
          );
        })}
      </div>
      <p id={stockId} aria-live="polite" className="text-sm text-ink-muted">
        {gpusAvailable > 0
          ? `${pluralize(gpusAvailable, 'GPU')} free in this region.`
          : 'No GPU is free in this region right now.'}
        {gpusAvailable > 0 && tooLarge.length > 0 && (
          <> More than {largestSlice} do not fit on one node right now.</>
        )}
      </p>
    </fieldset>
  );
}

const SEGMENT =
  'relative flex h-12 cursor-pointer items-center justify-center rounded-md border border-line-strong bg-surface text-lg font-semibold tabular-nums ' +
  'hover:bg-hover has-checked:border-accent has-checked:bg-accent-wash has-checked:text-accent-text ' +
  'has-data-[full=true]:border-dashed has-data-[full=true]:font-normal has-data-[full=true]:text-ink-faint has-data-[full=true]:line-through ' +
  'has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent';
