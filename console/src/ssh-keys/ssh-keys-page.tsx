import { useInfiniteQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { deleteSshKey, sshKeysQuery } from '../api/own.ts';
import { ownKeys } from '../api/query-keys.ts';
import { useMe, mayInProject, useProject } from '../api/session.ts';
import type { SshKey } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
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
      subtitle="Public keys that machines can be launched with: yours, and those of the project."
      actions={
        <Button variant="primary" onClick={() => setAdding(true)}>
          Add key
        </Button>
      }
    >
      <KeysPanel title="Yours" projectId={null} />
      {choice && <KeysPanel title={`Of the project ${choice.project.name}`} projectId={choice.project.id} />}
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
          <EmptyState icon={KeyRound} title="There is no SSH key">
            {projectId
              ? 'Everybody of the project may launch machines with the keys that are added to it.'
              : 'Paste a public key, or make a pair here. The web terminal needs none.'}
          </EmptyState>
        }
      />
    </Panel>
  );
}

function Delete({ sshKey }: { sshKey: SshKey }) {
  const me = useMe();
  const refusal =
    sshKey.project_id && !mayInProject(me, sshKey.project_id, 'ssh_key.manage')
      ? 'You lack the permission ssh_key.manage in this project.'
      : null;
  const remove = useChange({ mutationFn: () => deleteSshKey(sshKey.id), refreshes: [ownKeys.sshKeys] });
  return (
    <RowActions>
      <ConfirmButton
        label="Delete"
        title={`Delete the key ${sshKey.name}?`}
        confirmLabel="Delete"
        disabledReason={refusal}
        act={remove}
      >
        New machines are launched without it. Machines that run already keep what they were given.
      </ConfirmButton>
    </RowActions>
  );
}
