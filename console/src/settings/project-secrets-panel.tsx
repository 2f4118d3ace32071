import { useInfiniteQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useProjectDisabledReason } from '../api/me.ts';
import { deleteSecret, secretsQuery } from '../api/organization/project-secrets.ts';
import { projectKeys } from '../api/query-keys.ts';
import type { ProjectSecret } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RelativeTime } from '../ui/values/timestamp.tsx';
import { SetSecret } from './set-secret.tsx';

interface ProjectSecretsPanelProps {
  project: { id: string; name: string };
}

const COLUMNS: Column<ProjectSecret>[] = [
  { header: 'Name', cell: ({ name }) => <span className="font-mono text-xs">{name}</span> },
  { header: 'Set', cell: ({ set_at: at }) => <RelativeTime since={at} /> },
  { header: 'By', cell: ({ set_by_name: by }) => by, from: 'sm' },
  {
    header: 'Actions',
    align: 'right',
    cell: (secret) => (
      <RowActions>
        <SetSecret projectId={secret.project_id} name={secret.name} />
        <DeleteSecret secret={secret} />
      </RowActions>
    ),
  },
];

/** Names of the project's secrets. Nobody can read a value again. */
export function ProjectSecretsPanel({ project }: ProjectSecretsPanelProps) {
  const query = useInfiniteQuery(secretsQuery(project.id));
  return (
    <Panel title={`Secrets of ${project.name}`} flush aside={<SetSecret projectId={project.id} />}>
      <ResourceList
        label="Secrets"
        query={query}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={KeyRound} title="No secrets yet">
            Store tokens and passwords that apps of the project get when they start.
          </EmptyState>
        }
      />
    </Panel>
  );
}

function DeleteSecret({ secret: { name, project_id: projectId } }: { secret: ProjectSecret }) {
  const refusal = useProjectDisabledReason(projectId, 'project_secret.write');
  const remove = useRefreshingMutation({
    mutationFn: () => deleteSecret({ projectId, name }),
    refreshes: [projectKeys.secrets(projectId)],
  });
  return (
    <ConfirmButton
      label="Delete"
      title={`Delete ${name}?`}
      confirmLabel="Delete"
      disabledReason={refusal}
      act={remove}
    >
      Apps that need it no longer start. Running ones keep the value they started with.
    </ConfirmButton>
  );
}
