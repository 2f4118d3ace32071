import { Link } from '@tanstack/react-router';
import type { AllocationDetail } from '../api/types.ts';
import { humanize } from '../format/humanize.ts';
import { DataTable, ROW_LINK_CLASS, type Column } from '../ui/tables/data-table.tsx';
import { Panel } from '../ui/panel.tsx';

type Task = AllocationDetail['tasks'][number];

const COLUMNS: Column<Task>[] = [
  {
    header: 'Task',
    cell: ({ task_id: id, kind }) => (
      <Link to="/operator/tasks/$taskId" params={{ taskId: id }} className={ROW_LINK_CLASS}>
        {kind}
      </Link>
    ),
  },
  { header: 'State', cell: ({ state }) => humanize(state) },
  {
    header: 'Last message',
    cell: ({ message }) => <span className="block max-w-80 truncate text-ink-muted">{message ?? '—'}</span>,
    from: 'md',
  },
];

export function AllocationTasks({ tasks }: { tasks: Task[] }) {
  return (
    <Panel title="Tasks" flush>
      {tasks.length > 0 ? (
        <DataTable label="Tasks" columns={COLUMNS} rows={tasks} rowKey={({ task_id: id }) => id} />
      ) : (
        <p className="p-4 text-sm text-ink-muted">No tasks yet</p>
      )}
    </Panel>
  );
}
