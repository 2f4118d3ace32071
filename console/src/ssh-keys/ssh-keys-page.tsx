import { useInfiniteQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { deleteSshKey, sshKeysQuery } from '../api/account/own.ts';
import { userKeys } from '../api/query-keys.ts';
import { useMe, hasProjectPermission, useProject } from '../api/me.ts';
import type { SshKey } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { CopyButton } from '../ui/actions/copy-button.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { AddSshKeyDialog } from './add-ssh-key-dialog.tsx';

const COLUMNS: Column<SshKey>[] = [
  {
    header: 'Name',
    cell: ({ name }) => <span className="font-medium">{name}</span>,
  },
  { header: 'Type', cell: ({ type }) => <span className="text-ink-muted">{type}</span>, from: 'md' },
  {
    header: 'Fingerprint',
    cell: ({ fingerprint }) => (
      <span className="inline-flex items-center gap-1">
        <code title={fingerprint} className="block max-w-72 truncate font-mono text-ink-muted">
          {fingerprint}
        </code>
        <CopyButton value={fingerprint} label="fingerprint" />
      </span>
    ),
    from: 'sm',
  },
  { header: 'Added', cell: ({ created_at: at }) => <Timestamp at={at} />, from: 'lg' },
  { header: 'Actions', cell: (key) => <Delete sshKey={key} />, align: 'right' },
];

export function SshKeysPage() {
  const choice = useProject();
  const [adding, setAdding] = useState(false);
  return (
    <Page
      title="SSH keys"
      subtitle="Public keys for new machines: yours and the project's"
      actions={
        <Button variant="primary" onClick={() => setAdding(true)}>
          Add key
        </Button>
      }
    >
      <KeysPanel title="Yours" projectId={null} />
      {choice && <KeysPanel title={`Project ${choice.project.name}`} projectId={choice.project.id} />}
      {adding && <AddSshKeyDialog onClose={() => setAdding(false)} />}
    </Page>
  );
}

function KeysPanel({ title, projectId }: { title: string; projectId: string | null }) {
  const query = useInfiniteQuery(sshKeysQuery(projectId));
  return (
    <Panel title={title} flush>
      <ResourceList
        label={title}
        query={query}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={KeyRound} title="No SSH keys yet">
            {projectId
              ? 'All project members can launch machines with project keys.'
              : 'Paste a public key or generate one. The web terminal works without a key.'}
          </EmptyState>
        }
      />
    </Panel>
  );
}

function Delete({ sshKey }: { sshKey: SshKey }) {
  const me = useMe();
  const refusal =
    sshKey.project_id && !hasProjectPermission(me, sshKey.project_id, 'ssh_key.manage')
      ? 'Requires ssh_key.manage in this project'
      : null;
  const remove = useRefreshingMutation({
    mutationFn: () => deleteSshKey(sshKey.id),
    refreshes: [userKeys.sshKeys],
  });
  return (
    <RowActions>
      <ConfirmButton
        label="Delete"
        title={`Delete the key ${sshKey.name}?`}
        confirmLabel="Delete"
        disabledReason={refusal}
        act={remove}
      >
        New machines will not include it. Running machines keep it.
      </ConfirmButton>
    </RowActions>
  );
}
