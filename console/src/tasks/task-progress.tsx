import type { NodeTask } from '../api/types.ts';
import { Badge } from '../ui/values/badge.tsx';
import { ProgressBar } from '../ui/charts/progress-bar.tsx';
import { isTaskActive, TASK_STATES } from './task-states.ts';

/** State of a task, and its progress while it runs. */
export function TaskProgress({ task }: { task: NodeTask }) {
  const { label, tone } = TASK_STATES[task.state];
  return (
    <span className="inline-flex items-center gap-3">
      <Badge tone={tone} moving={isTaskActive(task)}>
        {label}
      </Badge>
      {isTaskActive(task) && task.percent !== null && (
        <span className="inline-flex w-28 items-center gap-2">
          <ProgressBar label={task.kind} percent={task.percent} tone={tone} />
          <span className="text-xs text-ink-muted tabular-nums">{task.percent}%</span>
        </span>
      )}
    </span>
  );
}
