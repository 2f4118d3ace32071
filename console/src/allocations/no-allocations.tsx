import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import { skusQuery } from '../api/catalog.ts';
import { formatMoney } from '../format/money.ts';
import { counted } from '../format/words.ts';
import { buttonClass } from '../ui/button-class.ts';
import { EmptyState } from '../ui/empty-state.tsx';

/** The first page a newcomer sees: what one click would get, and for how much. */
export function NoAllocations() {
  const sku = useQuery(skusQuery).data?.find(({ capacity_shape: shape }) => shape === 'gpu_slice');
  const free = sku?.availability.reduce((sum, { gpus_available: gpus }) => sum + gpus, 0) ?? 0;
  return (
    <EmptyState
      icon={Rocket}
      title="Your first GPU is a minute away"
      action={
        <Link to="/launch" className={buttonClass({ variant: 'primary', size: 'lg' })}>
          Launch a GPU slice
        </Link>
      }
    >
      <p>Pick a size, watch the machine come up live, and open a terminal in it from this page.</p>
      {sku && free > 0 && (
        <p className="pt-2 font-medium text-ink tabular-nums">
          {counted(free, `${sku.gpu_model} GPU`)} free now, from {formatMoney(sku.price_per_gpu_hour)} per GPU
          hour
        </p>
      )}
    </EmptyState>
  );
}
