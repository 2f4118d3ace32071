import type { ReactNode } from 'react';
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
      {TARGETS.filter(({ mode }) => mode !== node.mode).map(({ mode, name, next }) => (
        <Convert key={mode} node={node} mode={mode} name={name} disabledReason={permission ?? inUse}>
          The host is cordoned, its devices are rebound, and it is checked and rediscovered. {next}
        </Convert>
      ))}
    </>
  );
}

/** A host without a mode can become either. */
const TARGETS = [
  { mode: 'slice', name: 'slices', next: 'All slots must be approved again.' },
  {
    mode: 'baremetal',
    name: 'bare metal',
    next: 'It is for sale after its whole-node offer is approved.',
  },
] as const;

function Convert(props: {
  node: Node;
  mode: 'slice' | 'baremetal';
  name: string;
  disabledReason: string | null;
  children: ReactNode;
}) {
  const { node, mode, name } = props;
  const convert = useRefreshingMutation({
    mutationFn: (reason: string) => convertNode({ id: node.id, mode, reason }),
    refreshes: [fleetKeys.node(node.id), fleetKeys.nodes, fleetKeys.conversions(node.id)],
  });
  return (
    <ReasonButton
      label={`Convert to ${name}`}
      size="md"
      title={`Convert ${node.hostname} to ${name}?`}
      submitLabel="Convert"
      disabledReason={props.disabledReason}
      act={convert}
    >
      {props.children}
    </ReasonButton>
  );
}
