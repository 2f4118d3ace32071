import { useInfiniteQuery } from '@tanstack/react-query';
import { Bell } from 'lucide-react';
import { markAllRead, markRead, notificationsQuery } from '../api/account/notifications.ts';
import { userKeys } from '../api/query-keys.ts';
import type { Notification } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Page } from '../ui/page.tsx';
import { Panel } from '../ui/panel.tsx';
import { ShowMore } from '../ui/tables/show-more.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { RelativeTime } from '../ui/values/timestamp.tsx';
import { TONE_CLASS, type Tone } from '../ui/values/tone.ts';
import { PreferencesPanel } from './preferences-panel.tsx';

const TONES: Record<Notification['severity'], Tone> = { info: 'info', warning: 'warn', critical: 'danger' };

export function NotificationsPage() {
  const query = useInfiniteQuery(notificationsQuery);
  const newest = query.data?.[0];
  const unread = query.data?.some(({ read_at: readAt }) => readAt === null) ?? false;
  const readAll = useRefreshingMutation({ mutationFn: markAllRead, refreshes: [userKeys.notifications] });
  return (
    <Page
      title="Notifications"
      subtitle="Alerts about your resources"
      actions={
        <Button
          disabledReason={unread ? null : 'No unread notifications.'}
          busy={readAll.isPending}
          onClick={() => newest && readAll.mutate(newest.id)}
        >
          Mark all as read
        </Button>
      }
    >
      <Panel title="Inbox" flush>
        <QueryBoundary query={query} loading={<Skeleton label="Loading notifications" />}>
          {(notifications) =>
            notifications.length === 0 ? (
              <EmptyState icon={Bell} title="No notifications yet">
                Alerts such as low balance or a lost host appear here.
              </EmptyState>
            ) : (
              <>
                <ul>
                  {notifications.map((one) => (
                    <NotificationRow key={one.id} notification={one} />
                  ))}
                </ul>
                <ShowMore query={query} />
              </>
            )
          }
        </QueryBoundary>
      </Panel>
      <PreferencesPanel />
    </Page>
  );
}

function NotificationRow({ notification }: { notification: Notification }) {
  const { id, title, body, link, severity, created_at: at, read_at: readAt } = notification;
  const read = useRefreshingMutation({ mutationFn: markRead, refreshes: [userKeys.notifications] });
  return (
    <li className="relative flex gap-3 border-b border-line px-4 py-3 last:border-0 hover:bg-hover/60">
      <span
        aria-hidden
        className={`${TONE_CLASS[TONES[severity]]} mt-1.5 size-2 shrink-0 rounded-full ${readAt ? 'border border-tone' : 'bg-tone'}`}
      />
      <div className="flex min-w-0 flex-1 flex-col gap-0.5 text-sm">
        <a
          href={link}
          onClick={() => readAt === null && read.mutate(id)}
          className={`after:absolute after:inset-0 hover:text-accent-text ${readAt ? 'text-ink-muted' : 'font-medium'}`}
        >
          {title}
          {readAt === null && <span className="sr-only"> (unread)</span>}
        </a>
        <p className="break-words whitespace-pre-line text-ink-muted">{body}</p>
      </div>
      <span className="shrink-0 text-xs text-ink-faint">
        <RelativeTime since={at} />
      </span>
    </li>
  );
}
