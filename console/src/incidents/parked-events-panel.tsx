import { useInfiniteQuery } from '@tanstack/react-query';
import { CircleCheck } from 'lucide-react';
import { parkedEventsQuery, retryParkedEvent, skipParkedEvent } from '../api/operations/parked-events.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import type { ParkedEvent } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { ReasonButton } from '../operator/reason-button.tsx';
import { Button } from '../ui/actions/button.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RelativeTime } from '../ui/values/timestamp.tsx';

const COLUMNS: Column<ParkedEvent>[] = [
  {
    header: 'Event',
    cell: ({ event_type: type, last_error: error }) => (
      <span className="flex flex-col">
        <span className="font-medium">{type}</span>
        <span title={error} className="block max-w-md truncate text-xs text-ink-faint">
          {error}
        </span>
      </span>
    ),
  },
  { header: 'Consumer', cell: ({ consumer }) => consumer, from: 'sm' },
  { header: 'Parked', cell: ({ parked_at: at }) => <RelativeTime since={at} />, from: 'md' },
  { header: 'Actions', cell: (event) => <Decide event={event} />, align: 'right' },
];

/** Events that a consumer went on without; nothing is shown while there are none. */
export function ParkedEventsPanel() {
  const query = useInfiniteQuery(parkedEventsQuery);
  if (!query.data?.length) return null;
  return (
    <Panel title="Parked events" flush>
      <ResourceList
        label="Parked events"
        query={query}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={CircleCheck} title="No parked events">
            Consumers handle every event.
          </EmptyState>
        }
      />
    </Panel>
  );
}

function Decide({ event }: { event: ParkedEvent }) {
  const permission = usePlatformDisabledReason('incident.manage');
  const refreshes = [operatorKeys.parkedEvents, operatorKeys.incidents];
  const retry = useRefreshingMutation({ mutationFn: () => retryParkedEvent(event.id), refreshes });
  const skip = useRefreshingMutation({
    mutationFn: (reason: string) => skipParkedEvent({ id: event.id, reason }),
    refreshes,
  });
  return (
    <RowActions>
      <Button
        size="sm"
        busy={retry.isPending}
        disabledReason={permission ?? (event.state === 'retrying' ? 'Being retried.' : null)}
        onClick={() => retry.mutate()}
      >
        Retry
      </Button>
      <ReasonButton
        label="Skip"
        title="Skip this event?"
        submitLabel="Skip event"
        disabledReason={permission}
        act={skip}
      >
        {event.consumer} will never handle it. Its effect is missing until something else repairs it.
      </ReasonButton>
    </RowActions>
  );
}
