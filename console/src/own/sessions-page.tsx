import { useInfiniteQuery } from '@tanstack/react-query';
import { MonitorSmartphone } from 'lucide-react';
import { endOtherSessions, endSession, sessionsQuery } from '../api/own.ts';
import { ownKeys } from '../api/query-keys.ts';
import type { Session } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Badge } from '../ui/badge.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Surface } from '../ui/surface.tsx';
import { Age, Timestamp } from '../ui/timestamp.tsx';

const COLUMNS: Column<Session>[] = [
  {
    header: 'Browser',
    cell: ({ user_agent: agent, current }) => (
      <span className="flex items-center gap-2">
        <span title={agent} className="block max-w-64 truncate font-medium">
          {agent || 'Unknown'}
        </span>
        {current && <Badge tone="success">This one</Badge>}
      </span>
    ),
  },
  { header: 'Address', cell: ({ ip }) => <code className="font-mono text-ink-muted">{ip}</code>, from: 'sm' },
  { header: 'Last used', cell: ({ last_used_at: at }) => <Age since={at} />, from: 'md' },
  { header: 'Signed in', cell: ({ created_at: at }) => <Timestamp at={at} />, from: 'lg' },
  { header: 'Ends', cell: ({ expires_at: at }) => <Timestamp at={at} />, from: 'xl' },
  { header: 'Actions', cell: (session) => <End session={session} />, align: 'right' },
];

export function SessionsPage() {
  const query = useInfiniteQuery(sessionsQuery);
  const endOthers = useChange({ mutationFn: endOtherSessions, refreshes: [ownKeys.sessions] });
  return (
    <Page
      title="Sessions"
      subtitle="Where you are signed in."
      actions={
        <ConfirmButton
          label="Sign out everywhere else"
          size="md"
          title="Sign out everywhere else?"
          confirmLabel="Sign out"
          act={endOthers}
          disabledReason={query.data && query.data.length < 2 ? 'You are signed in here only.' : null}
        >
          Every other browser has to sign in again, and terminals open in them are closed.
        </ConfirmButton>
      }
    >
      <Surface>
        <ResourceList
          label="Sessions"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={MonitorSmartphone} title="No session">
              You use the API with a key.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}

function End({ session }: { session: Session }) {
  const end = useChange({ mutationFn: () => endSession(session.id), refreshes: [ownKeys.sessions] });
  if (session.current) return null;
  return (
    <RowActions>
      <ConfirmButton label="End" title="End the session?" confirmLabel="End" act={end}>
        That browser has to sign in again, and terminals open in it are closed.
      </ConfirmButton>
    </RowActions>
  );
}
