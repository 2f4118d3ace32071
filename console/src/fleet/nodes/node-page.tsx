import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { nodeQuery } from '../../api/fleet/fleet.ts';
import type { Node } from '../../api/types.ts';
import { Badge } from '../../ui/values/badge.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { NotFound } from '../../ui/feedback/not-found.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { ConversionsPanel } from './conversions-panel.tsx';
import { CordonsNotice } from './cordons-notice.tsx';
import { DiscoveryPanel } from '../topology/discovery-panel.tsx';
import { DisksPanel } from '../topology/disks-panel.tsx';
import { DriftPanel } from '../topology/drift-panel.tsx';
import { LabFaultsPanel } from './lab-faults-panel.tsx';
import { NodeActions } from './node-actions.tsx';
import { NodeFacts } from './node-facts.tsx';
import { NodeStatesPanel } from './node-states-panel.tsx';
import { NodeTasksPanel } from './node-tasks-panel.tsx';
import { POSTURES } from '../postures.ts';
import { ReadinessPanel } from './readiness-panel.tsx';
import { SlotsPanel } from '../slots/slots-panel.tsx';
import { MaintenancePanel } from './maintenance-panel.tsx';

const route = getRouteApi('/signed-in/operator/nodes/$nodeId');

export function NodePage() {
  const { nodeId } = route.useParams();
  const query = useQuery(nodeQuery(nodeId));
  return (
    <QueryBoundary
      query={query}
      loading={<Skeleton label="Loading the node" />}
      missing={<NotFound what="node" />}
    >
      {(node) => <NodeDetail node={node} />}
    </QueryBoundary>
  );
}

function NodeDetail({ node }: { node: Node }) {
  const posture = POSTURES[node.posture];
  return (
    <Page
      title={node.hostname}
      aside={<Badge tone={posture.tone}>{posture.label}</Badge>}
      subtitle={node.posture_reason}
      actions={<NodeActions node={node} />}
    >
      <div className="grid items-start gap-4 lg:grid-cols-[1fr_20rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <CordonsNotice node={node} />
          <SlotsPanel nodeId={node.id} />
          <DiscoveryPanel node={node} />
          <DriftPanel nodeId={node.id} />
          <DisksPanel nodeId={node.id} />
          <NodeTasksPanel nodeId={node.id} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <NodeFacts node={node} />
          <NodeStatesPanel node={node} />
          <ReadinessPanel node={node} />
          <MaintenancePanel nodeId={node.id} />
          <ConversionsPanel nodeId={node.id} />
          <LabFaultsPanel hostname={node.hostname} />
        </div>
      </div>
    </Page>
  );
}
