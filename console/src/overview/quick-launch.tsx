import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { skusQuery } from '../api/catalog/catalog.ts';
import type { Sku } from '../api/types.ts';
import { formatMoney, multiplyMoney } from '../format/money.ts';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';

/** Number of sizes shown. */
const PICKS = 4;

/** The sizes of a slice with price and stock, each one click away from a launch. */
export function QuickLaunch({ organizationId }: { organizationId: string }) {
  const query = useQuery(skusQuery(organizationId));
  return (
    <QueryBoundary query={query} loading={<Skeleton label="Loading products" rows={2} />}>
      {(skus) => {
        const sku = skus.find(({ capacity_shape: shape, entitled }) => shape === 'gpu_slice' && entitled);
        return sku ? (
          <ul className="grid grid-cols-2 gap-2">
            {picksOf(sku).map((gpus) => (
              <li key={gpus}>
                <Pick sku={sku} gpus={gpus} />
              </li>
            ))}
          </ul>
        ) : (
          <p className="text-sm text-ink-muted">No GPU slices available right now.</p>
        );
      }}
    </QueryBoundary>
  );
}

function Pick({ sku, gpus }: { sku: Sku; gpus: number }) {
  const free = sku.availability.reduce(
    (sum, { by_gpu_count: sizes }) => sum + (sizes.find((size) => size.gpu_count === gpus)?.available ?? 0),
    0,
  );
  return (
    <Link
      to="/launch"
      search={{ sku: sku.sku, gpus }}
      className="flex flex-col gap-0.5 rounded-md border border-line-strong bg-surface px-3.5 py-2.5 hover:border-accent hover:bg-accent-wash"
    >
      <span className="text-base font-semibold tabular-nums">
        {gpus} × {sku.gpu_model.split('-')[0]}
      </span>
      <span className="text-sm text-ink-muted tabular-nums">
        {formatMoney(multiplyMoney(sku.price_per_gpu_hour, gpus))} / h
      </span>
      <span className={`text-xs ${free > 0 ? 'tone-success text-tone-text' : 'text-ink-faint'}`}>
        {free > 0 ? `${free.toLocaleString('en-US')} free now` : 'None free, can be queued'}
      </span>
    </Link>
  );
}

/** Powers of two among the sizes on sale. */
function picksOf({ allowed_gpu_counts: counts }: Sku): number[] {
  const powers = counts.filter((count) => Number.isInteger(Math.log2(count)));
  return (powers.length > 0 ? powers : counts).slice(0, PICKS);
}
