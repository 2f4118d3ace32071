import { appReasons } from '@gpuaas/sdk/app-reasons';
import { useQuery } from '@tanstack/react-query';
import { LoaderCircle } from 'lucide-react';
import { eventsQuery } from '../../api/apps/instances.ts';
import type { AppInstance, AppInstanceEvent } from '../../api/types.ts';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Panel } from '../../ui/panel.tsx';
import { TimelineItem } from '../../ui/timeline/timeline-item.tsx';
import { WORKLOAD_STATUSES } from '../workload-statuses.ts';
import { EVENT_LOOKS } from './event-looks.ts';

/** The events of an instance, oldest first; the last one turns while more will follow. */
export function EventTimeline({ instance }: { instance: AppInstance }) {
  const query = useQuery(eventsQuery(instance.id));
  const { moving } = WORKLOAD_STATUSES[instance.status];
  return (
    <Panel title="Timeline">
      <QueryBoundary query={query} loading={<Skeleton label="Loading the timeline" rows={6} />}>
        {(events) => (
          <ol className="flex flex-col">
            {events.map((event, index) => (
              <EventItem
                key={event.id}
                event={event}
                active={moving && index === events.length - 1}
                explained={events.slice(0, index).some(({ reason }) => reason === event.reason)}
              />
            ))}
          </ol>
        )}
      </QueryBoundary>
    </Panel>
  );
}

interface EventItemProps {
  event: AppInstanceEvent;
  /** More will follow. */
  active: boolean;
  /** An earlier event has the same reason. */
  explained: boolean;
}

function EventItem({ event, active, explained }: EventItemProps) {
  const { event_type: type, message, reason, occurred_at: at } = event;
  const { title, tone, icon } = EVENT_LOOKS[type];
  return (
    <TimelineItem
      stage={type}
      state={active ? 'active' : 'done'}
      tone={tone}
      icon={active ? LoaderCircle : icon}
      {...(active ? { iconClass: 'size-3 animate-spin' } : {})}
      title={title}
      word={active ? 'active' : 'done'}
      at={at}
    >
      <p className={`text-sm break-words ${tone === 'danger' ? 'text-tone-text' : 'text-ink-muted'}`}>
        {message}
      </p>
      {reason && !explained && (
        <p className="text-xs text-ink-faint">
          {appReasons[reason].title}: {appReasons[reason].help}
        </p>
      )}
    </TimelineItem>
  );
}
