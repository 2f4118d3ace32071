import { useQuery } from '@tanstack/react-query';
import { nodeTasksQuery } from '../../api/fleet/fleet.ts';
import type { NodeTask } from '../../api/types.ts';
import { DataTable, type Column } from '../../ui/tables/data-table.tsx';
import { Code } from '../../ui/values/facts.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { RelativeTime } from '../../ui/values/timestamp.tsx';
import { TaskProgress } from '../../tasks/task-progress.tsx';

const COLUMNS: Column<NodeTask>[] = [
  { header: 'Task', cell: ({ kind }) => <Code>{kind}</Code> },
  { header: 'State', cell: (task) => <TaskProgress task={task} /> },
  { header: 'Message', cell: (task) => <Message {...task} />, from: 'md' },
  { header: 'Attempt', cell: ({ epoch }) => epoch, align: 'right', from: 'xl' },
  {
    header: 'Created',
    cell: ({ created_at: at }) => (
      <span className="text-ink-muted">
        <RelativeTime since={at} />
      </span>
    ),
    align: 'right',
    from: 'sm',
  },
];

export function NodeTasksPanel({ nodeId }: { nodeId: string }) {
  const query = useQuery(nodeTasksQuery(nodeId));
  return (
    <Panel title="Recent tasks" flush>
      <QueryBoundary query={query} loading={<Skeleton label="Loading tasks" rows={3} />}>
        {(tasks) =>
          tasks.length > 0 ? (
            <DataTable label="Node tasks" columns={COLUMNS} rows={tasks} rowKey={({ id }) => id} />
          ) : (
            <p className="p-4 text-sm text-ink-muted">No tasks yet</p>
          )
        }
      </QueryBoundary>
    </Panel>
  );
}

function Message({ message, error }: NodeTask) {
  const text = error?.detail ?? message;
  return (
    <span
      title={text ?? undefined}
      className={`block max-w-64 truncate ${error ? 'tone-danger text-tone-text' : 'text-ink-muted'}`}
    >
      {text ?? '—'}
    </span>
  );
}
