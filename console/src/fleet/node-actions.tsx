import { convertNode, drainNode, resumeNode } from '../api/node-operations.ts';
import { fleetKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { Node } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { ReasonButton } from '../operator/reason-button.tsx';
import { Button } from '../ui/button.tsx';

/** Drain and resume, and the turn between slices and baremetal. */
export function NodeActions({ node }: { node: Node }) {
  const permission = usePlatformRefusal('fleet.operate');
  const refreshes = [fleetKeys.node(node.id), fleetKeys.nodes, fleetKeys.conversions(node.id)];
  const drain = useChange({ mutationFn: (reason: string) => drainNode({ id: node.id, reason }), refreshes });
  const resume = useChange({ mutationFn: () => resumeNode(node.id), refreshes });
  const mode = node.mode === 'slice' ? 'baremetal' : 'slice';
  const convert = useChange({
    mutationFn: (reason: string) => convertNode({ id: node.id, mode, reason }),
    refreshes,
  });
  const inUse =
    node.slot_counts.in_use + node.slot_counts.reserved > 0
      ? 'Leases run on it: drain it and wait for them.'
      : null;
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
          Nothing new is placed on it. What runs there goes on until its tenants release it.
        </ReasonButton>
      )}
      <ReasonButton
        label={mode === 'baremetal' ? 'Turn into baremetal' : 'Turn into slices'}
        size="md"
        title={`Turn ${node.hostname} into ${mode === 'baremetal' ? 'a baremetal host' : 'slices'}?`}
        submitLabel="Turn"
        disabledReason={permission ?? inUse}
        act={convert}
      >
        It is cordoned, binds its devices anew, is checked and discovered again.
        {mode === 'slice' && ' Every slot has to be approved again before it is sold.'}
      </ReasonButton>
    </>
  );
}
