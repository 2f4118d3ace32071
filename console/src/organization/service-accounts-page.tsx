import { useInfiniteQuery } from '@tanstack/react-query';
import { Bot } from 'lucide-react';
import { useState } from 'react';
import { projectKeys } from '../api/query-keys.ts';
import { createServiceAccount, serviceAccountsQuery } from '../api/organization/service-accounts.ts';
import { useProjectDisabledReason } from '../api/me.ts';
import type { ServiceAccount } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { ProjectPage } from '../shell/project-page.tsx';
import { NameWithDetail } from '../ui/values/name-with-detail.tsx';
import { StateBadge } from '../ui/values/state-badge.tsx';
import { Button } from '../ui/actions/button.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { IdText } from '../ui/values/id-text.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { SecretDialog } from '../ui/forms/secret-dialog.tsx';
import { Surface } from '../ui/surface.tsx';
import { RelativeTime, Timestamp } from '../ui/values/timestamp.tsx';
import { ServiceAccountActions } from './service-account-actions.tsx';

const COLUMNS: Column<ServiceAccount>[] = [
  {
    header: 'Service account',
    cell: ({ name, description }) => <NameWithDetail name={name}>{description}</NameWithDetail>,
  },
  {
    header: 'State',
    cell: ({ state }) => <StateBadge state={state} />,
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
                , used <RelativeTime since={token.last_used_at} />
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
      subtitle={({ project }) => `Machine identities for programs in ${project.name}`}
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
          <EmptyState icon={Bot} title="No service accounts yet">
            Create one for CI or another program, then grant it a permission group.
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
  const refusal = useProjectDisabledReason(projectId, 'service_account.manage');
  const make = useRefreshingMutation({
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
        submitLabel="Create service account"
        refusal={name.trim() ? null : 'Enter a name.'}
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
          It has no permissions yet. Grant it a permission group under Permissions.
        </p>
      </SecretDialog>
    </>
  );
}
