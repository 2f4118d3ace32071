import { useQuery } from '@tanstack/react-query';
import { preferencesQuery, setPreference } from '../api/notifications.ts';
import { ownKeys } from '../api/query-keys.ts';
import type { NotificationPreferences } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { inWords } from '../format/words.ts';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';

type Preference = NotificationPreferences['preferences'][number];

/** What one wants to be told of, and how. */
export function PreferencesPanel() {
  const query = useQuery(preferencesQuery);
  const set = useChange({ mutationFn: setPreference, refreshes: [ownKeys.notificationPreferences] });
  const box = (channel: 'inbox' | 'email', preference: Preference) => (
    <input
      type="checkbox"
      aria-label={`${inWords(preference.kind)}, ${channel === 'inbox' ? 'in the inbox' : 'by e-mail'}`}
      checked={preference[channel].enabled}
      onChange={({ target }) => set.mutate({ kind: preference.kind, channel, enabled: target.checked })}
    />
  );
  const columns: Column<Preference>[] = [
    {
      header: 'Of what',
      cell: ({ kind, about }) => (
        <span className="flex flex-col whitespace-normal">
          <span className="font-medium">{inWords(kind)}</span>
          <span className="text-xs text-ink-faint">{about}</span>
        </span>
      ),
    },
    { header: 'Inbox', cell: (preference) => box('inbox', preference) },
    { header: 'E-mail', cell: (preference) => box('email', preference) },
  ];
  return (
    <Panel title="What I am told of" flush>
      {set.error && (
        <div className="p-4">
          <ProblemNotice error={set.error} />
        </div>
      )}
      <Loaded query={query} loading={<Skeleton label="Loading preferences" />}>
        {(preferences) => (
          <DataTable label="Preferences" columns={columns} rows={preferences} rowKey={({ kind }) => kind} />
        )}
      </Loaded>
    </Panel>
  );
}
