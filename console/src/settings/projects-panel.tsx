import { useInfiniteQuery } from '@tanstack/react-query';
import { FolderOpen } from 'lucide-react';
import { useState } from 'react';
import type { ListedProject } from '../api/types.ts';
import { ME_KEY, organizationKeys } from '../api/query-keys.ts';
import {
  hasOrganizationPermission,
  useMe,
  useOrganizationDisabledReason,
  useProjectDisabledReason,
} from '../api/me.ts';
import { createProject, deleteProject, projectsQuery } from '../api/organization/settings.ts';
import { teamsQuery } from '../api/organization/teams.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { IdText } from '../ui/values/id-text.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { MoveProject } from './move-project.tsx';

export function ProjectsPanel({ organizationId }: { organizationId: string }) {
  const query = useInfiniteQuery(projectsQuery(organizationId));
  const seesTeams = hasOrganizationPermission(useMe(), organizationId, 'member.read', 'anywhere');
  const teams = useInfiniteQuery({ ...teamsQuery(organizationId), enabled: seesTeams }).data ?? [];
  return (
    <Panel title="Projects" flush aside={<NewProject organizationId={organizationId} />}>
      <ResourceList
        label="Projects"
        query={query}
        rowKey={({ id }) => id}
        columns={[
          { header: 'Project', cell: ({ name }) => <span className="font-medium">{name}</span> },
          {
            header: 'Team',
            cell: ({ team_id: teamId }) => teams.find(({ id }) => id === teamId)?.name ?? '—',
          },
          { header: 'Id', cell: ({ id }) => <IdText id={id} label="project id" />, from: 'sm' },
          { header: 'Since', cell: ({ created_at: at }) => <Timestamp at={at} />, from: 'md' },
          {
            header: 'Actions',
            align: 'right',
            cell: (project) => (
              <RowActions>
                <MoveProject project={project} teams={teams} />
                <DeleteProject project={project} />
              </RowActions>
            ),
          },
        ]}
        empty={
          <EmptyState icon={FolderOpen} title="No projects yet">
            Allocations, keys and webhooks belong to projects.
          </EmptyState>
        }
      />
    </Panel>
  );
}

function NewProject({ organizationId }: { organizationId: string }) {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState('');
  const refusal = useOrganizationDisabledReason(organizationId, 'project.create');
  const create = useRefreshingMutation({
    mutationFn: createProject,
    refreshes: [organizationKeys.projects(organizationId), ME_KEY],
    onSuccess: () => {
      setOpen(false);
      setName('');
    },
  });
  return (
    <>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        New project
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="New project"
        submitLabel="Create project"
        refusal={name.trim() ? null : 'Enter a name.'}
        busy={create.isPending}
        error={create.error}
        onSubmit={() => create.mutate({ organization_id: organizationId, name: name.trim() })}
      >
        <Field label="Name" value={name} onChange={setName} maxLength={100} placeholder="research" />
      </FormDialog>
    </>
  );
}

function DeleteProject({ project }: { project: ListedProject }) {
  const refusal = useProjectDisabledReason(project.id, 'project.manage');
  const remove = useRefreshingMutation({
    mutationFn: () => deleteProject(project.id),
    refreshes: [organizationKeys.projects(project.organization_id), ME_KEY],
  });
  return (
    <ConfirmButton
      label="Delete"
      title={`Delete ${project.name}?`}
      confirmLabel="Delete"
      disabledReason={refusal}
      act={remove}
    >
      Deletes its keys, webhooks and service accounts. Not possible while machines are running.
    </ConfirmButton>
  );
}
