import { convertNode, drainNode, resumeNode } from '../../api/fleet/node-operations.ts';
import { fleetKeys } from '../../api/query-keys.ts';
import { usePlatformDisabledReason } from '../../api/me.ts';
import type { Node } from '../../api/types.ts';
import { useRefreshingMutation } from '../../api/use-refreshing-mutation.ts';
import { ReasonButton } from '../../operator/reason-button.tsx';
import { Button } from '../../ui/actions/button.tsx';

/** Drain and resume, and the turn between slices and baremetal. */
export function NodeActions({ node }: { node: Node }) {
  const permission = usePlatformDisabledReason('fleet.operate');
  const refreshes = [fleetKeys.node(node.id), fleetKeys.nodes, fleetKeys.conversions(node.id)];
  const drain = useRefreshingMutation({
    mutationFn: (reason: string) => drainNode({ id: node.id, reason }),
    refreshes,
  });
  const resume = useRefreshingMutation({ mutationFn: () => resumeNode(node.id), refreshes });
  const mode = node.mode === 'slice' ? 'baremetal' : 'slice';
  const convert = useRefreshingMutation({
    mutationFn: (reason: string) => convertNode({ id: node.id, mode, reason }),
    refreshes,
  });
  const inUse =
    node.slot_counts.in_use + node.slot_counts.reserved > 0 ? 'In use: drain the host first.' : null;
  return (
    <>
      {node.draining ? (
        <Button disabledReason={permission} busy={resume.isPending} onClick={() => resume.mutate()}>
          Resume
        </Button>
      ) : (
        <ReasonButton
          label="Drain"
          size="md"
          title={`Drain ${node.hostname}?`}
          submitLabel="Drain"
          disabledReason={permission}
          act={drain}
        >
          New placements stop. Running machines continue until their tenants release them.
        </ReasonButton>
      )}
      <ReasonButton
        label={mode === 'baremetal' ? 'Convert to bare metal' : 'Convert to slices'}
        size="md"
        title={`Convert ${node.hostname} to ${mode === 'baremetal' ? 'bare metal' : 'slices'}?`}
        submitLabel="Convert"
        disabledReason={permission ?? inUse}
        act={convert}
      >
        The host is cordoned, its devices are rebound, and it is checked and rediscovered.
        {mode === 'slice'
          ? ' All slots must be approved again.'
          : ' It is for sale after its whole-node offer is approved.'}
      </ReasonButton>
    </>
  );
}
