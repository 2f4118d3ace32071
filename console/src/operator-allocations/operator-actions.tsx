import { forceRelease, retryReleaseForTenant } from '../api/allocations/operator-allocations.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import type { Allocation } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { ReasonButton } from '../operator/reason-button.tsx';
import { Button } from '../ui/actions/button.tsx';

const ENDED: Allocation['state'][] = ['released', 'failed', 'release_failed'];

/** Operator actions for a host that does not respond. */
export function OperatorActions({ allocation: { id, name, state } }: { allocation: Allocation }) {
  const permission = usePlatformDisabledReason('fleet.clean');
  const refreshes = [operatorKeys.allocations];
  const retry = useRefreshingMutation({ mutationFn: () => retryReleaseForTenant(id), refreshes });
  const force = useRefreshingMutation({
    mutationFn: (reason: string) => forceRelease({ id, reason }),
    refreshes,
  });
  const over = ENDED.includes(state);
  return (
    <>
      <Button
        busy={retry.isPending}
        disabledReason={
          permission ??
          (state === 'release_failed' || state === 'failed'
            ? (retry.error?.message ?? null)
            : 'No failed cleanup.')
        }
        onClick={() => retry.mutate()}
      >
        Retry cleanup
      </Button>
      <ReasonButton
        label="Force release"
        variant="danger"
        size="md"
        title={`Force release of ${name}?`}
        submitLabel="Force release"
        disabledReason={permission ?? (over ? 'Already ended.' : null)}
        act={force}
      >
        Use this for an unreachable host. The tenant loses the machine and billing stops; its slots stay
        quarantined until their cleanup is verified.
      </ReasonButton>
    </>
  );
}
