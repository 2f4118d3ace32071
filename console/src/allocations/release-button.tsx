import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { releaseAllocation } from '../api/allocations.ts';
import { allocationKeys } from '../api/query-keys.ts';
import { mayInProject, useMe } from '../api/session.ts';
import type { Allocation } from '../api/types.ts';
import { counted } from '../format/words.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { RELEASE_REFUSALS } from './allocation-states.ts';

interface ReleaseButtonProps {
  allocation: Allocation;
  /** The terminal has nothing to show any more; the timeline has. */
  onReleased: () => void;
}

export function ReleaseButton({ allocation, onReleased }: ReleaseButtonProps) {
  const [asking, setAsking] = useState(false);
  const queryClient = useQueryClient();
  const me = useMe();
  const release = useMutation({
    mutationFn: () => releaseAllocation(allocation.id),
    onSuccess: (released) => {
      queryClient.setQueryData(allocationKeys.one(allocation.id), released);
      setAsking(false);
      onReleased();
    },
  });
  const refusal = mayInProject(me, allocation.project_id, 'allocation.release')
    ? RELEASE_REFUSALS[allocation.state]
    : 'You lack the permission allocation.release in this project.';
  return (
    <>
      <Button variant="danger" disabledReason={refusal} onClick={() => setAsking(true)}>
        {allocation.state === 'release_failed' ? 'Release again' : 'Release'}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Release ${allocation.name}?`}
        confirmLabel="Wipe and release"
        onConfirm={() => release.mutate()}
        busy={release.isPending}
        error={release.error}
      >
        <ul className="flex list-disc flex-col gap-1.5 pl-4">
          <li>The machine is stopped and given back with its {counted(allocation.gpu_count, 'GPU')}.</li>
          <li className="font-medium text-ink">
            All data on its local NVMe is wiped. This cannot be undone.
          </li>
          <li>Billing stops now, not when the wipe is done.</li>
        </ul>
      </ConfirmDialog>
    </>
  );
}
