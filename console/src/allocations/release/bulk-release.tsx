import { useState } from 'react';
import { releaseAllocation } from '../../api/allocations/allocations.ts';
import { allocationKeys } from '../../api/query-keys.ts';
import type { Allocation } from '../../api/types.ts';
import { useRefreshingMutation } from '../../api/use-refreshing-mutation.ts';
import { pluralize } from '../../format/humanize.ts';
import { Button } from '../../ui/actions/button.tsx';
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx';

interface BulkReleaseProps {
  allocations: Allocation[];
  onDone: () => void;
}

/** Releases the selected allocations, one by one: those released before a refusal stay released. */
export function BulkRelease({ allocations, onDone }: BulkReleaseProps) {
  const [asking, setAsking] = useState(false);
  const release = useRefreshingMutation({
    mutationFn: async (ids: string[]) => {
      for (const id of ids) await releaseAllocation(id);
    },
    refreshes: [allocationKeys.lists],
    onSuccess: () => {
      setAsking(false);
      onDone();
    },
  });
  if (allocations.length === 0) return null;
  const gpus = allocations.reduce((sum, { gpu_count: count }) => sum + count, 0);
  const what = pluralize(allocations.length, 'allocation');
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 rounded-lg border border-line bg-raised px-4 py-2">
      <p className="text-sm" aria-live="polite">
        {what} selected, {pluralize(gpus, 'GPU')}
      </p>
      <div className="flex gap-2">
        <Button size="sm" onClick={onDone}>
          Clear selection
        </Button>
        <Button size="sm" variant="danger" onClick={() => setAsking(true)}>
          Release {what}
        </Button>
      </div>
      <ConfirmDialog
        open={asking}
        onClose={() => {
          setAsking(false);
          release.reset();
        }}
        title={`Release ${what}?`}
        confirmLabel="Wipe and release all"
        onConfirm={() => release.mutate(allocations.map(({ id }) => id))}
        busy={release.isPending}
        error={release.error}
      >
        <p>
          These machines will be stopped and released with their {pluralize(gpus, 'GPU')}.{' '}
          <strong className="font-medium text-ink">All data on their local NVMe disks will be wiped.</strong>{' '}
          This cannot be undone. Billing stops now.
        </p>
        <ul className="mt-2 max-h-40 list-disc overflow-y-auto pl-4">
          {allocations.map(({ id, name, gpu_count: count }) => (
            <li key={id}>
              {name}, {pluralize(count, 'GPU')}
            </li>
          ))}
        </ul>
      </ConfirmDialog>
    </div>
  );
}
