import type { NodeTask } from '../api/types.ts';
import { formatDuration } from '../format/format-time.ts';
import { useNow } from '../ui/values/use-now.ts';
import { isTaskActive } from './task-states.ts';

/** How long the host has worked on a task. */
export function TaskDuration({ task }: { task: NodeTask }) {
  const now = useNow(isTaskActive(task) ? 1_000 : null);
  if (!task.claimed_at) return '—';
  const end = task.finished_at ? Date.parse(task.finished_at) : now;
  return (
    <span className="tabular-nums">{formatDuration(Math.max(0, end - Date.parse(task.claimed_at)))}</span>
  );
}
