import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { nodeQuery } from '../api/fleet.ts';
import type { Node } from '../api/types.ts';
import { Badge } from '../ui/badge.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { NotFound } from '../ui/not-found.tsx';
import { Page } from '../ui/page.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { DiscoveryPanel } from './discovery-panel.tsx';
import { NodeFacts } from './node-facts.tsx';
import { NodeTasksPanel } from './node-tasks-panel.tsx';
import { POSTURES } from './postures.ts';
import { SlotsPanel } from './slots-panel.tsx';

const route = getRouteApi('/signed-in/operator/nodes/$nodeId');

export function NodePage() {
  const { nodeId } = route.useParams();
  const query = useQuery(nodeQuery(nodeId));
  return (
    <Loaded query={query} loading={<Skeleton label="Loading the node" />} missing={<NotFound what="node" />}>
      {(node) => <NodeDetail node={node} />}
    </Loaded>
  );
}

function NodeDetail({ node }: { node: Node }) {
  const posture = POSTURES[node.posture];
  return (
    <Page
      title={node.hostname}
      aside={<Badge tone={posture.tone}>{posture.label}</Badge>}
      subtitle={node.posture_reason}
    >
      <div className="grid items-start gap-4 lg:grid-cols-[1fr_20rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <SlotsPanel nodeId={node.id} />
          <DiscoveryPanel node={node} />
          <NodeTasksPanel nodeId={node.id} />
        </div>
        <NodeFacts node={node} />
      </div>
    </Page>
  );
}
