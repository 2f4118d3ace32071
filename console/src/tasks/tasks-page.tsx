import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ListChecks } from 'lucide-react';
import { tasksQuery } from '../api/fleet/tasks.ts';
import type { NodeTask, NodeTaskState } from '../api/types.ts';
import { HostLink } from '../fleet/nodes/host-link.tsx';
import { TaskDuration } from './task-duration.tsx';
import { lastMessage, TASK_STATES } from './task-states.ts';
import { TaskProgress } from './task-progress.tsx';
import { ROW_LINK_CLASS, type Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { Select } from '../ui/forms/select.tsx';
import { Surface } from '../ui/surface.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { keysOf } from '../typed-keys.ts';

const route = getRouteApi('/signed-in/operator/tasks');
const ANY = 'any';

const COLUMNS: Column<NodeTask>[] = [
  {
    header: 'Task',
    cell: ({ id, kind }) => (
      <Link to="/operator/tasks/$taskId" params={{ taskId: id }} className={ROW_LINK_CLASS}>
        {kind}
      </Link>
    ),
  },
  { header: 'State', cell: (task) => <TaskProgress task={task} /> },
  {
    header: 'Last message',
    cell: (task) => (
      <span title={lastMessage(task)} className="block max-w-80 truncate text-ink-muted">
        {lastMessage(task)}
      </span>
    ),
    from: 'lg',
  },
  {
    header: 'Host',
    cell: ({ node_id: id }) => <HostLink nodeId={id} />,
    from: 'md',
  },
  { header: 'Took', cell: (task) => <TaskDuration task={task} />, align: 'right', from: 'lg' },
  { header: 'Attempt', cell: ({ epoch }) => epoch, align: 'right', from: 'md' },
  { header: 'Created', cell: ({ created_at: at }) => <Timestamp at={at} as="clock" />, from: 'sm' },
];

export function TasksPage() {
  const { project: _project, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(tasksQuery(filter));
  const show = (next: NodeTaskState | typeof ANY) => {
    const { state: _state, ...rest } = filter;
    void navigate({ search: next === ANY ? rest : { ...rest, state: next } });
  };
  return (
    <Page
      title="Tasks"
      subtitle="Work sent to hosts, with progress and results"
      actions={
        <Select<NodeTaskState | typeof ANY>
          label="State"
          hideLabel
          value={filter.state ?? ANY}
          onChange={show}
          options={[
            { value: ANY, label: 'Any state' },
            ...keysOf(TASK_STATES).map((state) => ({
              value: state,
              label: TASK_STATES[state].label,
            })),
          ]}
        />
      }
    >
      <Surface>
        <ResourceList
          label="Tasks"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={ListChecks} title="No tasks match">
              Change or clear the filter.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}
