import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { releaseAllocation, retryRelease } from '../../api/allocations/allocations.ts';
import { allocationKeys } from '../../api/query-keys.ts';
import { hasProjectPermission, useMe } from '../../api/me.ts';
import type { Allocation } from '../../api/types.ts';
import { Button } from '../../ui/actions/button.tsx';
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx';
import { RELEASE_BLOCKERS } from '../allocation-states.ts';
import { ReleaseConsequences, releaseLabels } from './release-words.tsx';

interface ReleaseButtonProps {
  allocation: Allocation;
  /** The terminal has nothing left to show; the timeline has. */
  onReleased: () => void;
}

export function ReleaseButton({ allocation, onReleased }: ReleaseButtonProps) {
  const [asking, setAsking] = useState(false);
  const queryClient = useQueryClient();
  const me = useMe();
  const release = useMutation({
    mutationFn: () =>
      allocation.state === 'release_failed' ? retryRelease(allocation.id) : releaseAllocation(allocation.id),
    onSuccess: (released) => {
      queryClient.setQueryData(allocationKeys.one(allocation.id), released);
      setAsking(false);
      onReleased();
    },
  });
  const refusal = hasProjectPermission(me, allocation.project_id, 'allocation.release')
    ? RELEASE_BLOCKERS[allocation.state]
    : 'Requires allocation.release in this project';
  const labels = releaseLabels(allocation);
  return (
    <>
      <Button variant="danger" disabledReason={refusal} onClick={() => setAsking(true)}>
        {labels.button}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`${labels.button}: ${allocation.name}?`}
        confirmLabel={labels.confirm}
        onConfirm={() => release.mutate()}
        busy={release.isPending}
        error={release.error}
      >
        <ReleaseConsequences allocation={allocation} />
      </ConfirmDialog>
    </>
  );
}
