import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { releaseAllocation, retryRelease } from '../api/allocations.ts';
import { allocationKeys } from '../api/query-keys.ts';
import { mayInProject, useMe } from '../api/session.ts';
import type { Allocation } from '../api/types.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { RELEASE_REFUSALS } from './allocation-states.ts';
import { ReleaseConsequences, releaseLabels } from './release-words.tsx';

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
    mutationFn: () =>
      allocation.state === 'release_failed' ? retryRelease(allocation.id) : releaseAllocation(allocation.id),
    onSuccess: (released) => {
      queryClient.setQueryData(allocationKeys.one(allocation.id), released);
      setAsking(false);
      onReleased();
    },
  });
  const refusal = mayInProject(me, allocation.project_id, 'allocation.release')
    ? RELEASE_REFUSALS[allocation.state]
    : 'You lack the permission allocation.release in this project.';
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
