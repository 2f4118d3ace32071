import { useInfiniteQuery } from '@tanstack/react-query';
import { MonitorSmartphone } from 'lucide-react';
import { endOtherSignIns, endSignIn, signInsQuery } from '../api/account/own.ts';
import { userKeys } from '../api/query-keys.ts';
import type { SignIn } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Badge } from '../ui/values/badge.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Surface } from '../ui/surface.tsx';
import { RelativeTime, Timestamp } from '../ui/values/timestamp.tsx';

const COLUMNS: Column<SignIn>[] = [
  {
    header: 'Browser',
    cell: ({ user_agent: agent, current }) => (
      <span className="flex items-center gap-2">
        <span title={agent} className="block max-w-64 truncate font-medium">
          {agent || 'Unknown'}
        </span>
        {current && <Badge tone="success">This device</Badge>}
      </span>
    ),
  },
  { header: 'Address', cell: ({ ip }) => <code className="font-mono text-ink-muted">{ip}</code>, from: 'sm' },
  { header: 'Last used', cell: ({ last_used_at: at }) => <RelativeTime since={at} />, from: 'md' },
  { header: 'Signed in', cell: ({ created_at: at }) => <Timestamp at={at} />, from: 'lg' },
  { header: 'Ends', cell: ({ expires_at: at }) => <Timestamp at={at} />, from: 'xl' },
  { header: 'Actions', cell: (signIn) => <End signIn={signIn} />, align: 'right' },
];

export function SignInsPage() {
  const query = useInfiniteQuery(signInsQuery);
  const endOthers = useRefreshingMutation({ mutationFn: endOtherSignIns, refreshes: [userKeys.signIns] });
  return (
    <Page
      title="Signed-in devices"
      subtitle="Browsers where you are signed in"
      actions={
        <ConfirmButton
          label="Sign out all other devices"
          size="md"
          title="Sign out all other devices?"
          confirmLabel="Sign out"
          act={endOthers}
          disabledReason={query.data && query.data.length < 2 ? 'No other devices are signed in.' : null}
        >
          All other browsers are signed out and their open terminals are closed.
        </ConfirmButton>
      }
    >
      <Surface>
        <ResourceList
          label="Signed-in devices"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={MonitorSmartphone} title="No signed-in devices">
              You are using an API key.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}

function End({ signIn }: { signIn: SignIn }) {
  const end = useRefreshingMutation({
    mutationFn: () => endSignIn(signIn.id),
    refreshes: [userKeys.signIns],
  });
  if (signIn.current) return null;
  return (
    <RowActions>
      <ConfirmButton label="Sign out" title="Sign out this device?" confirmLabel="Sign out" act={end}>
        That browser is signed out and its open terminals are closed.
      </ConfirmButton>
    </RowActions>
  );
}
