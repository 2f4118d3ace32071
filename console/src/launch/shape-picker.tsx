import { Cpu, Server, type LucideIcon } from 'lucide-react';
import { useId } from 'react';
import type { Sku } from '../api/types.ts';
import type { LaunchChange } from '../search-params.ts';
import { formatMoney } from '../format/money.ts';
import { findSku, type Shape } from './launch-choice.ts';

const SHAPES: { shape: Shape; title: string; icon: LucideIcon; words: string }[] = [
  {
    shape: 'gpu_slice',
    title: 'GPU slice',
    icon: Cpu,
    words: 'Dedicated GPUs in a virtual machine',
  },
  {
    shape: 'baremetal',
    title: 'Baremetal',
    icon: Server,
    words: 'A whole host with all its GPUs, no hypervisor',
  },
];

interface ShapePickerProps {
  skus: Sku[];
  chosen: Sku;
  onChange: (next: LaunchChange) => void;
}

/** Chooses between some GPUs of a host and the whole host. */
export function ShapePicker({ skus, chosen, onChange }: ShapePickerProps) {
  const group = useId();
  return (
    <fieldset>
      <legend className="mb-2 text-sm font-medium">{chosen.gpu_model.split('-')[0]}: machine type</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {SHAPES.map(({ shape, title, icon: Icon, words }) => {
          const sku = findSku(skus, shape, chosen.gpu_model);
          const refusal = shapeRefusal(sku);
          return (
            <label key={shape} className={CARD} data-disabled={refusal !== null}>
              <input
                type="radio"
                name={group}
                className="absolute inset-0 cursor-[inherit] appearance-none rounded-md outline-none"
                checked={chosen.capacity_shape === shape}
                disabled={refusal !== null}
                onChange={() => sku && onChange({ sku: sku.sku, gpus: undefined })}
                aria-label={refusal ? `${title}, ${refusal}` : title}
              />
              <span className="flex items-center gap-2 font-semibold">
                <Icon aria-hidden className="size-4" />
                {title}
              </span>
              <span className="text-sm text-ink-muted">{words}</span>
              <span className="text-xs text-ink-faint">
                {refusal ?? (sku && `From ${formatMoney(sku.price_per_gpu_hour)} per GPU hour`)}
              </span>
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}

function shapeRefusal(sku: Sku | undefined): string | null {
  if (!sku) return 'Not available right now.';
  return sku.entitled ? null : 'Your organization is not entitled to this product.';
}

const CARD =
  'relative flex cursor-pointer flex-col gap-1 rounded-md border border-line-strong bg-surface p-3.5 hover:bg-hover ' +
  'has-checked:border-accent has-checked:bg-accent-wash data-[disabled=true]:cursor-not-allowed data-[disabled=true]:border-dashed ' +
  'has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent';
