import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { AppWindow, SearchX } from 'lucide-react';
import { instancesQuery } from '../api/apps/instances.ts';
import { workloadsSearch } from '../search-params.ts';
import { buttonClass } from '../ui/actions/button-class.ts';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Surface } from '../ui/surface.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { StatusSelect } from './status-select.tsx';
import { WORKLOAD_COLUMNS } from './workload-columns.tsx';

const route = getRouteApi('/signed-in/workloads');

export function WorkloadsTable({ projectId }: { projectId: string }) {
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(instancesQuery(projectId, { status }));
  const isUnused = query.data?.length === 0 && !status;
  return (
    <>
      {!isUnused && (
        <StatusSelect
          value={status}
          onChange={(next) =>
            void navigate({ search: (old) => workloadsSearch({ ...old, status: next }), replace: true })
          }
        />
      )}
      <Surface>
        <ResourceList
          label="Workloads"
          query={query}
          columns={WORKLOAD_COLUMNS}
          rowKey={({ id }) => id}
          empty={status ? <NoneMatch /> : <NoWorkloads />}
        />
      </Surface>
    </>
  );
}

function NoneMatch() {
  return (
    <EmptyState icon={SearchX} title="No workloads match">
      Choose another status to see more workloads.
    </EmptyState>
  );
}

function NoWorkloads() {
  return (
    <EmptyState
      icon={AppWindow}
      title="No workloads yet"
      action={
        <Link to="/apps" className={buttonClass({ variant: 'primary', size: 'lg' })}>
          Choose an app
        </Link>
      }
    >
      Start a notebook, a model or a batch job on an allocation. Everything that the project runs appears
      here.
    </EmptyState>
  );
}
