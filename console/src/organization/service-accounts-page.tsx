import { useInfiniteQuery } from '@tanstack/react-query';
import { Bot } from 'lucide-react';
import { useState } from 'react';
import { projectKeys } from '../api/query-keys.ts';
import { createServiceAccount, serviceAccountsQuery } from '../api/service-accounts.ts';
import { useProjectRefusal } from '../api/session.ts';
import type { ServiceAccount } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { ProjectPage } from '../shell/project-page.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { IdText } from '../ui/id-text.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { SecretDialog } from '../ui/secret-dialog.tsx';
import { Surface } from '../ui/surface.tsx';
import { Age, Timestamp } from '../ui/timestamp.tsx';
import { ServiceAccountActions } from './service-account-actions.tsx';

const COLUMNS: Column<ServiceAccount>[] = [
  {
    header: 'Service account',
    cell: ({ name, description }) => (
      <span className="flex flex-col">
        <span className="font-medium">{name}</span>
        <span className="text-xs text-ink-faint">{description}</span>
      </span>
    ),
  },
  {
    header: 'State',
    cell: ({ state }) => (
      <Badge tone={state === 'active' ? 'success' : 'neutral'}>
        {state === 'active' ? 'Active' : 'Disabled'}
      </Badge>
    ),
  },
  {
    header: 'Tokens',
    cell: ({ tokens }) => (
      <ul className="flex flex-col text-xs text-ink-muted">
        {tokens.map((token) => (
          <li key={token.id}>
            <code className="font-mono">{token.prefix}…</code> until <Timestamp at={token.expires_at} />
            {token.last_used_at && (
              <>
                , used <Age since={token.last_used_at} />
              </>
            )}
          </li>
        ))}
      </ul>
    ),
    from: 'lg',
  },
  { header: 'Id', cell: ({ id }) => <IdText id={id} label="service account id" />, from: 'md' },
  { header: 'Actions', cell: (account) => <ServiceAccountActions account={account} />, align: 'right' },
];

export function ServiceAccountsPage() {
  return (
    <ProjectPage
      title="Service accounts"
      subtitle={({ project }) => `Programs that act in ${project.name} with a token of their own.`}
      actions={({ project }) => <NewServiceAccount projectId={project.id} />}
    >
      {({ project }) => <ServiceAccounts projectId={project.id} />}
    </ProjectPage>
  );
}

function ServiceAccounts({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(serviceAccountsQuery(projectId));
  return (
    <Surface>
      <ResourceList
        label="Service accounts"
        query={query}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={Bot} title="There is no service account">
            Make one for CI or another program, then bind a permission group to it.
          </EmptyState>
        }
      />
    </Surface>
  );
}

function NewServiceAccount({ projectId }: { projectId: string }) {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [secret, setSecret] = useState<string | null>(null);
  const refusal = useProjectRefusal(projectId, 'service_account.manage');
  const make = useChange({
    mutationFn: createServiceAccount,
    refreshes: [projectKeys.serviceAccounts(projectId)],
    onSuccess: ({ token }) => {
      setOpen(false);
      setName('');
      setDescription('');
      setSecret(token);
    },
  });
  return (
    <>
      <Button variant="primary" disabledReason={refusal} onClick={() => setOpen(true)}>
        New service account
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="New service account"
        submitLabel="Make service account"
        refusal={name.trim() ? null : 'Give it a name.'}
        busy={make.isPending}
        error={make.error}
        onSubmit={() => make.mutate({ project_id: projectId, name, ...(description ? { description } : {}) })}
      >
        <Field label="Name" value={name} onChange={setName} maxLength={64} placeholder="ci" />
        <Field label="Description" optional value={description} onChange={setDescription} maxLength={200} />
      </FormDialog>
      <SecretDialog
        secret={secret}
        title="Token of the service account"
        label="Token"
        onClose={() => setSecret(null)}
      >
        <p className="text-sm text-ink-muted">
          It may do nothing until a permission group is bound to it, under Permissions.
        </p>
      </SecretDialog>
    </>
  );
}
