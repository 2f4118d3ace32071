import { forceRelease, retryReleaseForTenant } from '../api/operator-allocations.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { Allocation } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { ReasonButton } from '../operator/reason-button.tsx';
import { Button } from '../ui/button.tsx';

const ENDED: Allocation['state'][] = ['released', 'failed', 'release_failed'];

/** What operators do when a host does not. */
export function OperatorActions({ allocation: { id, name, state } }: { allocation: Allocation }) {
  const permission = usePlatformRefusal('fleet.clean');
  const refreshes = [operatorKeys.allocations];
  const retry = useChange({ mutationFn: () => retryReleaseForTenant(id), refreshes });
  const force = useChange({ mutationFn: (reason: string) => forceRelease({ id, reason }), refreshes });
  const over = ENDED.includes(state);
  return (
    <>
      <Button
        busy={retry.isPending}
        disabledReason={
          permission ??
          (state === 'release_failed' || state === 'failed'
            ? (retry.error?.message ?? null)
            : 'No cleanup of it has failed.')
        }
        onClick={() => retry.mutate()}
      >
        Clean up again
      </Button>
      <ReasonButton
        label="Force release"
        variant="danger"
        size="md"
        title={`End ${name} without its host?`}
        submitLabel="Force release"
        disabledReason={permission ?? (over ? 'It is over already.' : null)}
        act={force}
      >
        For a host that does not answer. The tenant loses the machine now and pays nothing more; what it held
        stays in quarantine until its cleanup is proven.
      </ReasonButton>
    </>
  );
}
