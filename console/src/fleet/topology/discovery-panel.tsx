import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { discoveryQuery, startDiscovery } from '../../api/fleet/fleet.ts';
import { fleetKeys } from '../../api/query-keys.ts';
import { hasPlatformPermission, useMe } from '../../api/me.ts';
import type { Node, TopologyDiscovery } from '../../api/types.ts';
import { Button } from '../../ui/actions/button.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ProblemNotice } from '../../ui/feedback/problem-notice.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { RelativeTime } from '../../ui/values/timestamp.tsx';
import { OfferWholeNode } from '../slots/offer-whole-node.tsx';
import { ApproveSlots } from '../slots/approve-slots.tsx';
import { TaskProgress } from '../../tasks/task-progress.tsx';
import { isTaskActive } from '../../tasks/task-states.ts';
import { TopologyDiagram } from './topology-diagram.tsx';

export function DiscoveryPanel({ node }: { node: Node }) {
  const query = useQuery(discoveryQuery(node.id));
  const queryClient = useQueryClient();
  const me = useMe();
  const discover = useMutation({
    mutationFn: () => startDiscovery(node.id),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: fleetKeys.discovery(node.id) }),
  });
  const task = query.data?.task;
  const refusal = !hasPlatformPermission(me, 'fleet.discover')
    ? 'Requires fleet.discover'
    : node.connection !== 'connected'
      ? 'The host is not connected.'
      : task && isTaskActive(task)
        ? 'A discovery is running.'
        : null;
  return (
    <Panel
      title="Topology"
      flush
      aside={
        <Button
          size="sm"
          disabledReason={refusal}
          busy={discover.isPending}
          onClick={() => discover.mutate()}
        >
          Discover topology
        </Button>
      }
    >
      {discover.error && (
        <div className="p-4">
          <ProblemNotice error={discover.error} />
        </div>
      )}
      <QueryBoundary query={query} loading={<Skeleton label="Loading the discovery" rows={3} />}>
        {(discovery) =>
          discovery ? (
            <Discovery node={node} discovery={discovery} />
          ) : (
            <p className="p-4 text-sm text-ink-muted">
              No discovery yet. Discovery is read-only; nothing is sold before you approve it.
            </p>
          )
        }
      </QueryBoundary>
    </Panel>
  );
}

function Discovery({ node, discovery }: { node: Node; discovery: TopologyDiscovery }) {
  const { task, candidates, left_out: leftOut } = discovery;
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-3 text-sm">
        <TaskProgress task={task} />
        <span className="text-ink-faint">
          asked <RelativeTime since={task.created_at} />
        </span>
      </div>
      {candidates.length > 0 && <TopologyDiagram nodeId={node.id} discovery={discovery} />}
      {leftOut.length > 0 && (
        <div className="border-t border-line px-4 py-3 text-sm">
          <h3 className="pb-1 text-xs font-medium text-ink-faint">Excluded</h3>
          <ul className="flex flex-col gap-1">
            {leftOut.map(({ device, reason }) => (
              <li key={device} className="text-ink-muted">
                <code className="font-mono text-ink">{device}</code> {reason}
              </li>
            ))}
          </ul>
        </div>
      )}
      {task.state === 'succeeded' &&
        (node.mode === 'slice' ? (
          <ApproveSlots nodeId={node.id} discovery={discovery} />
        ) : node.mode === 'baremetal' ? (
          <OfferWholeNode node={node} discoveryTaskId={task.id} />
        ) : (
          <p className="border-t border-line px-4 py-3 text-sm text-ink-muted">
            Convert the host to slices or to bare metal before you approve what it has.
          </p>
        ))}
    </>
  );
}
