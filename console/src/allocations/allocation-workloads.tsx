import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { instancesQuery } from '../api/apps/instances.ts';
import { hasProjectPermission, useMe } from '../api/me.ts';
import type { Allocation } from '../api/types.ts';
import { buttonClass } from '../ui/actions/button-class.ts';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { WORKLOAD_COLUMNS } from '../workloads/workload-columns.tsx';

const COLUMNS = WORKLOAD_COLUMNS.filter(({ header }) => !['App', 'Allocation'].includes(header));

/** Apps that run on the allocation, or did. */
export function AllocationWorkloads({ allocation }: { allocation: Allocation }) {
  const { id, project_id: projectId, state } = allocation;
  const me = useMe();
  const may = hasProjectPermission(me, projectId, 'app_instance.read');
  const query = useInfiniteQuery({ ...instancesQuery(projectId, { allocationId: id }), enabled: may });
  const isActive = state === 'active';
  if (!may || (!isActive && !query.data?.length)) return null;
  return (
    <Panel title="Workloads" flush aside={isActive && <ChooseApp allocationId={id} />}>
      <ResourceList
        label="Workloads of the allocation"
        query={query}
        columns={COLUMNS}
        rowKey={({ id: instanceId }) => instanceId}
        empty={<p className="p-4 text-sm text-ink-muted">No app runs here. Launch one from the catalog.</p>}
      />
    </Panel>
  );
}

function ChooseApp({ allocationId }: { allocationId: string }) {
  return (
    <Link to="/apps" search={(old) => ({ ...old, on: allocationId })} className={buttonClass({ size: 'sm' })}>
      Choose an app
    </Link>
  );
}
