import { useInfiniteQuery } from '@tanstack/react-query';
import { KeySquare } from 'lucide-react';
import { apiKeysQuery, revokeApiKey } from '../api/own.ts';
import { ownKeys } from '../api/query-keys.ts';
import type { ApiKey } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { inWords } from '../format/words.ts';
import { Badge } from '../ui/badge.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Surface } from '../ui/surface.tsx';
import { Age, Timestamp } from '../ui/timestamp.tsx';
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
    cell: ({ state }) => <Badge tone={state === 'active' ? 'success' : 'neutral'}>{inWords(state)}</Badge>,
  },
  {
    header: 'May',
    cell: ({ scopes }) => (
      <span title={scopes?.join(', ')} className="text-ink-muted">
        {scopes ? `${scopes.length} permissions` : 'All that you may'}
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
    cell: ({ last_used_at: at }) => (at ? <Age since={at} /> : <span className="text-ink-muted">Never</span>),
    from: 'md',
  },
  { header: 'Actions', cell: (key) => <Revoke apiKey={key} />, align: 'right' },
];

export function ApiKeysPage() {
  const query = useInfiniteQuery(apiKeysQuery);
  return (
    <Page
      title="API keys"
      subtitle="For your own programs and the command line. A key can do no more than you."
      actions={<NewApiKey />}
    >
      <Surface>
        <ResourceList
          label="API keys"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={KeySquare} title="You have no API key">
              Make one to use the API or <code className="font-mono">gpuaas</code> without a browser.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}

function Revoke({ apiKey }: { apiKey: ApiKey }) {
  const revoke = useChange({ mutationFn: () => revokeApiKey(apiKey.id), refreshes: [ownKeys.apiKeys] });
  if (apiKey.state !== 'active') return null;
  return (
    <RowActions>
      <ConfirmButton
        label="Revoke"
        title={`Revoke the key ${apiKey.name}?`}
        confirmLabel="Revoke"
        act={revoke}
      >
        Programs that use it are refused from now on. It cannot be brought back.
      </ConfirmButton>
    </RowActions>
  );
}
