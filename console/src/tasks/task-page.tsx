import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { taskQuery } from '../api/fleet/tasks.ts';
import { humanize } from '../format/humanize.ts';
import { HostLink } from '../fleet/nodes/host-link.tsx';
import { TaskDuration } from './task-duration.tsx';
import { isTaskActive, lastMessage } from './task-states.ts';
import { TaskProgress } from './task-progress.tsx';
import { Code, Fact, Facts } from '../ui/values/facts.tsx';
import { JsonBlock } from '../ui/values/json-block.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { NotFound } from '../ui/feedback/not-found.tsx';
import { Notice } from '../ui/feedback/notice.tsx';
import { Page } from '../ui/page.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

const route = getRouteApi('/signed-in/operator/tasks/$taskId');

/** Progress events are only sent to the host's page, so this page polls while the task runs. */
const REFETCH_MS = 1_500;

export function TaskPage() {
  const { taskId } = route.useParams();
  const query = useQuery({
    ...taskQuery(taskId),
    refetchInterval: ({ state }) => (state.data && isTaskActive(state.data.task) ? REFETCH_MS : false),
  });
  return (
    <QueryBoundary
      query={query}
      loading={<Skeleton label="Loading the task" />}
      missing={<NotFound what="task" />}
    >
      {({ task, params, output, lease_expires_at: lease }) => (
        <Page title={task.kind} aside={<TaskProgress task={task} />} subtitle={lastMessage(task)}>
          {task.error && (
            <Notice tone="danger" title={task.error.code}>
              <p>{task.error.detail}</p>
            </Notice>
          )}
          <div className="grid items-start gap-4 lg:grid-cols-2">
            <Panel title="Details">
              <Facts>
                <Fact name="Id" copy={task.id}>
                  <Code>{task.id}</Code>
                </Fact>
                <Fact name="Host" copy={task.node_id}>
                  <HostLink nodeId={task.node_id} />
                </Fact>
                {task.subject.type !== 'node' && (
                  <Fact name={humanize(task.subject.type)} copy={task.subject.id}>
                    <Code>{task.subject.id}</Code>
                  </Fact>
                )}
                {task.claimed_at && (
                  <Fact name="Took">
                    <TaskDuration task={task} />
                  </Fact>
                )}
                <Fact name="Attempt">{task.epoch}</Fact>
                <Fact name="Stage">{task.stage ?? '—'}</Fact>
                <Fact name="Created">
                  <Timestamp at={task.created_at} />
                </Fact>
                {task.claimed_at && (
                  <Fact name="Started">
                    <Timestamp at={task.claimed_at} />
                  </Fact>
                )}
                {lease && (
                  <Fact name="Deadline">
                    <Timestamp at={lease} />
                  </Fact>
                )}
                <Fact name={task.finished_at ? 'Finished' : 'Expires'}>
                  <Timestamp at={task.finished_at ?? task.expires_at} />
                </Fact>
                <Fact name="Correlation id" copy={task.correlation_id}>
                  <Code>{task.correlation_id}</Code>
                </Fact>
              </Facts>
            </Panel>
            <div className="flex min-w-0 flex-col gap-4">
              <Panel title="Request">
                <JsonBlock label="Parameters" value={params} />
              </Panel>
              <Panel title="Response">
                {output === null ? (
                  <p className="text-sm text-ink-muted">No response yet.</p>
                ) : (
                  <JsonBlock label="Output" value={output} />
                )}
              </Panel>
            </div>
          </div>
        </Page>
      )}
    </QueryBoundary>
  );
}
