import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { extendAllocation } from '../api/allocations/allocations.ts';
import { allocationKeys } from '../api/query-keys.ts';
import { useProjectDisabledReason } from '../api/me.ts';
import type { Allocation } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { formatMoney, costOver } from '../format/money.ts';
import { Button } from '../ui/actions/button.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { Select } from '../ui/forms/select.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

const HOUR = 3_600;
const SECOND_MS = 1_000;

const STEPS = [
  { value: String(HOUR), label: '1 hour' },
  { value: String(4 * HOUR), label: '4 hours' },
  { value: String(24 * HOUR), label: '1 day' },
  { value: String(168 * HOUR), label: '1 week' },
];

/** Extends a lease with an agreed end. */
export function ExtendButton({ allocation }: { allocation: Allocation }) {
  const { id, ends_at: endsAt, state } = allocation;
  const [open, setOpen] = useState(false);
  const [seconds, setSeconds] = useState(String(HOUR));
  const refusal = useProjectDisabledReason(allocation.project_id, 'allocation.create');
  const queryClient = useQueryClient();
  const extend = useRefreshingMutation({
    mutationFn: extendAllocation,
    refreshes: [allocationKeys.lists],
    onSuccess: (extended) => {
      queryClient.setQueryData(allocationKeys.one(id), extended);
      setOpen(false);
    },
  });
  if (!endsAt || state !== 'active') return null;
  const added = Number(seconds) * SECOND_MS;
  return (
    <>
      <Button disabledReason={refusal} onClick={() => setOpen(true)}>
        Extend
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title={`Extend ${allocation.name}`}
        submitLabel="Extend"
        busy={extend.isPending}
        error={extend.error}
        onSubmit={() => extend.mutate({ id, seconds: Number(seconds) })}
      >
        <div className="flex flex-col gap-1.5">
          <Select label="Extend by" value={seconds} onChange={setSeconds} options={STEPS} />
        </div>
        <p className="text-sm text-ink-muted">
          New end:{' '}
          <span className="text-ink">
            <Timestamp at={new Date(Date.parse(endsAt) + added).toISOString()} />
          </span>{' '}
          for up to {formatMoney(costOver(allocation.quote.per_hour, added), 2)} more at the current price of
          this lease.
        </p>
      </FormDialog>
    </>
  );
}
