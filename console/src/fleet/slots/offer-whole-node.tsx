import { offerWholeNode } from '../../api/fleet/fleet.ts';
import { usePlatformDisabledReason } from '../../api/me.ts';
import { fleetKeys } from '../../api/query-keys.ts';
import type { Node } from '../../api/types.ts';
import { useRefreshingMutation } from '../../api/use-refreshing-mutation.ts';
import { Button } from '../../ui/actions/button.tsx';
import { ProblemNotice } from '../../ui/feedback/problem-notice.tsx';

/** Puts a host in baremetal mode on sale as the discovery found it. */
export function OfferWholeNode({ node, discoveryTaskId }: { node: Node; discoveryTaskId: string }) {
  const permission = usePlatformDisabledReason('fleet.approve');
  const refreshes = [fleetKeys.slots(node.id), fleetKeys.node(node.id), fleetKeys.nodes];
  const offer = useRefreshingMutation({ mutationFn: offerWholeNode, refreshes });
  const isLeased = node.posture === 'exclusively_allocated_by_baremetal';
  return (
    <div className="flex flex-col gap-3 border-t border-line p-4">
      <Button
        variant="primary"
        className="h-9 self-start"
        disabledReason={permission ?? (isLeased ? 'The host is leased.' : null)}
        busy={offer.isPending}
        onClick={() => offer.mutate({ nodeId: node.id, discoveryTaskId })}
      >
        Approve whole-node offer
      </Button>
      <p className="text-xs text-ink-muted">
        The host is sold as a whole, with the GPUs that this discovery found.
      </p>
      {offer.error && <ProblemNotice error={offer.error} />}
    </div>
  );
}
