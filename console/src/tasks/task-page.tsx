import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { taskQuery } from '../api/tasks.ts';
import { isUnderWay } from '../fleet/task-states.ts';
import { TaskProgress } from '../fleet/task-progress.tsx';
import { Code, Fact, Facts } from '../ui/facts.tsx';
import { JsonBlock } from '../ui/json-block.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { NotFound } from '../ui/not-found.tsx';
import { Notice } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Timestamp } from '../ui/timestamp.tsx';

const route = getRouteApi('/signed-in/operator/tasks/$taskId');

/** Progress is told by events of the host's page only; here it is asked for while it moves. */
const LOOK_AGAIN_MS = 1_500;

export function TaskPage() {
  const { taskId } = route.useParams();
  const query = useQuery({
    ...taskQuery(taskId),
    refetchInterval: ({ state }) => (state.data && isUnderWay(state.data.task) ? LOOK_AGAIN_MS : false),
  });
  return (
    <Loaded query={query} loading={<Skeleton label="Loading the task" />} missing={<NotFound what="task" />}>
      {({ task, params, output, lease_expires_at: lease }) => (
        <Page title={task.kind} aside={<TaskProgress task={task} />} subtitle={task.message ?? undefined}>
          {task.error && (
            <Notice tone="danger" title={task.error.code}>
              <p>{task.error.detail}</p>
            </Notice>
          )}
          <div className="grid items-start gap-4 lg:grid-cols-2">
            <Panel title="Facts">
              <Facts>
                <Fact name="Id" copy={task.id}>
                  <Code>{task.id}</Code>
                </Fact>
                <Fact name="Host" copy={task.node_id}>
                  <Link
                    to="/operator/nodes/$nodeId"
                    params={{ nodeId: task.node_id }}
                    className="text-accent-text underline"
                  >
                    Open the host
                  </Link>
                </Fact>
                {task.allocation_id && (
                  <Fact name="Allocation" copy={task.allocation_id}>
                    <Code>{task.allocation_id}</Code>
                  </Fact>
                )}
                <Fact name="Attempt">{task.epoch}</Fact>
                <Fact name="Stage">{task.stage ?? '—'}</Fact>
                <Fact name="Made">
                  <Timestamp at={task.created_at} />
                </Fact>
                {task.claimed_at && (
                  <Fact name="Taken up">
                    <Timestamp at={task.claimed_at} />
                  </Fact>
                )}
                {lease && (
                  <Fact name="Host has until">
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
              <Panel title="Asked">
                <JsonBlock label="Parameters" value={params} />
              </Panel>
              <Panel title="Answered">
                {output === null ? (
                  <p className="text-sm text-ink-muted">The host has not answered.</p>
                ) : (
                  <JsonBlock label="Output" value={output} />
                )}
              </Panel>
            </div>
          </div>
        </Page>
      )}
    </Loaded>
  );
}
