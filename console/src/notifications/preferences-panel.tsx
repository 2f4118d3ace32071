import { useQuery } from '@tanstack/react-query';
import { preferencesQuery, setPreference } from '../api/account/notifications.ts';
import { userKeys } from '../api/query-keys.ts';
import type { NotificationPreferences } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { humanize } from '../format/humanize.ts';
import { DataTable, type Column } from '../ui/tables/data-table.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProblemNotice } from '../ui/feedback/problem-notice.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';

type Preference = NotificationPreferences['preferences'][number];

/** Notification types, and how the person receives each. */
export function PreferencesPanel() {
  const query = useQuery(preferencesQuery);
  const set = useRefreshingMutation({
    mutationFn: setPreference,
    refreshes: [userKeys.notificationPreferences],
  });
  const box = (channel: 'inbox' | 'email', preference: Preference) => (
    <input
      type="checkbox"
      aria-label={`${humanize(preference.kind)}, ${channel === 'inbox' ? 'in the inbox' : 'by e-mail'}`}
      checked={preference[channel].enabled}
      onChange={({ target }) => set.mutate({ kind: preference.kind, channel, enabled: target.checked })}
    />
  );
  const columns: Column<Preference>[] = [
    {
      header: 'Event',
      cell: ({ kind, about }) => (
        <span className="flex flex-col whitespace-normal">
          <span className="font-medium">{humanize(kind)}</span>
          <span className="text-xs text-ink-faint">{about}</span>
        </span>
      ),
    },
    { header: 'Inbox', cell: (preference) => box('inbox', preference) },
    { header: 'E-mail', cell: (preference) => box('email', preference) },
  ];
  return (
    <Panel title="Notification settings" flush>
      {set.error && (
        <div className="p-4">
          <ProblemNotice error={set.error} />
        </div>
      )}
      <QueryBoundary query={query} loading={<Skeleton label="Loading preferences" />}>
        {(preferences) => (
          <DataTable label="Preferences" columns={columns} rows={preferences} rowKey={({ kind }) => kind} />
        )}
      </QueryBoundary>
    </Panel>
  );
}
