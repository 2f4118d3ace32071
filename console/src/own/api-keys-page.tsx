import { useInfiniteQuery } from '@tanstack/react-query';
import { KeySquare } from 'lucide-react';
import { apiKeysQuery, revokeApiKey } from '../api/account/own.ts';
import { userKeys } from '../api/query-keys.ts';
import type { ApiKey } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { StateBadge } from '../ui/values/state-badge.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Surface } from '../ui/surface.tsx';
import { RelativeTime, Timestamp } from '../ui/values/timestamp.tsx';
import { NewApiKey } from './new-api-key.tsx';

const COLUMNS: Column<ApiKey>[] = [
  { header: 'Name', cell: ({ name }) => <span className="font-medium">{name}</span> },
  {
    header: 'Key',
    cell: ({ prefix }) => <code className="font-mono text-ink-muted">{prefix}…</code>,
    from: 'sm',
  },
  {
    header: 'State',
    cell: ({ state }) => <StateBadge state={state} />,
  },
  {
    header: 'Permissions',
    cell: ({ scopes }) => (
      <span title={scopes?.join(', ')} className="text-ink-muted">
        {scopes ? `${scopes.length} permissions` : 'All of yours'}
      </span>
    ),
    from: 'lg',
  },
  {
    header: 'Expires',
    cell: ({ expires_at: at }) =>
      at ? <Timestamp at={at} /> : <span className="text-ink-muted">Never</span>,
    from: 'lg',
  },
  {
    header: 'Last used',
    cell: ({ last_used_at: at }) =>
      at ? <RelativeTime since={at} /> : <span className="text-ink-muted">Never</span>,
    from: 'md',
  },
  { header: 'Actions', cell: (key) => <Revoke apiKey={key} />, align: 'right' },
];

export function ApiKeysPage() {
  const query = useInfiniteQuery(apiKeysQuery);
  return (
    <Page
      title="API keys"
      subtitle="For your programs and the CLI. A key never has more permissions than you."
      actions={<NewApiKey />}
    >
      <Surface>
        <ResourceList
          label="API keys"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={KeySquare} title="No API keys yet">
              Create one to use the API or <code className="font-mono">gpuaas</code> without a browser.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}

function Revoke({ apiKey }: { apiKey: ApiKey }) {
  const revoke = useRefreshingMutation({
    mutationFn: () => revokeApiKey(apiKey.id),
    refreshes: [userKeys.apiKeys],
  });
  if (apiKey.state !== 'active') return null;
  return (
    <RowActions>
      <ConfirmButton
        label="Revoke"
        title={`Revoke the key ${apiKey.name}?`}
        confirmLabel="Revoke"
        act={revoke}
      >
        Programs using it lose access immediately. This cannot be undone.
      </ConfirmButton>
    </RowActions>
  );
}
