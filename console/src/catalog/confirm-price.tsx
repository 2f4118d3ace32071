import { useInfiniteQuery } from '@tanstack/react-query';
import { ProblemError } from '@gpuaas/sdk/problem';
import { useState } from 'react';
import { operatorAllocationsQuery } from '../api/allocations/operator-allocations.ts';
import { addPrice, pricesQuery, type NewPrice } from '../api/catalog/catalog-admin.ts';
import { catalogKeys, operatorKeys } from '../api/query-keys.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { formatLocal } from '../format/format-time.ts';
import { pluralize } from '../format/humanize.ts';
import { formatMoney } from '../format/money.ts';
import { BeforeAfter } from '../ui/forms/before-after.tsx';
import { ConfirmDialog } from '../ui/forms/confirm-dialog.tsx';

interface ConfirmPriceProps {
  price: NewPrice;
  onBack: () => void;
  onAdded: () => void;
}

/** Shows the change and its effect; a large one has to be confirmed a second time. */
export function ConfirmPrice({ price, onBack, onAdded }: ConfirmPriceProps) {
  const [large, setLarge] = useState(false);
  const book = useInfiniteQuery(pricesQuery(price.organization_id)).data ?? [];
  const running = useInfiniteQuery(operatorAllocationsQuery({ state: 'active' })).data ?? [];
  const now = Date.now();
  const current = book.find(
    (one) => one.sku === price.sku && one.region === price.region && Date.parse(one.effective_from) <= now,
  );
  const leases = running.filter(({ sku, region }) => sku === price.sku && region === price.region).length;
  const add = useRefreshingMutation({
    mutationFn: addPrice,
    refreshes: [operatorKeys.prices, catalogKeys.skus],
    onSuccess: onAdded,
  });
  const needsSecond =
    add.error instanceof ProblemError && add.error.problem.code === 'price_change_unconfirmed';
  return (
    <ConfirmDialog
      open
      onClose={onBack}
      title={`Change the price of ${price.sku}?`}
      confirmLabel={needsSecond ? 'Change it anyway' : 'Add price'}
      refusal={needsSecond && !large ? 'Confirm the large change first.' : null}
      onConfirm={() => add.mutate({ ...price, ...(large && { confirm_large_change: true }) })}
      busy={add.isPending}
      error={add.error}
    >
      <BeforeAfter
        before={current ? `${formatMoney(current.per_gpu_hour)} / GPU h` : 'No price'}
        after={`${formatMoney(price.per_gpu_hour)} / GPU h`}
        effects={[
          `New launches in ${price.region} pay it from ${price.effective_from ? formatLocal(price.effective_from) : 'now'}.`,
          `Applies to ${pluralize(leases, 'running lease')}: no. Running leases keep their price.`,
        ]}
      />
      {needsSecond && (
        <label className="flex items-center gap-2 pt-3 text-ink">
          <input type="checkbox" checked={large} onChange={({ target }) => setLarge(target.checked)} />I
          confirm this large change of the price
        </label>
      )}
    </ConfirmDialog>
  );
}
