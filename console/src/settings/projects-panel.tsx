import { useInfiniteQuery } from '@tanstack/react-query';
import { FolderOpen } from 'lucide-react';
import { useState } from 'react';
import type { ListedProject } from '../api/types.ts';
import { ME_KEY, organizationKeys } from '../api/query-keys.ts';
import { useOrganizationRefusal, useProjectRefusal } from '../api/session.ts';
import { createProject, deleteProject, projectsQuery } from '../api/settings.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { IdText } from '../ui/id-text.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Timestamp } from '../ui/timestamp.tsx';

export function ProjectsPanel({ organizationId }: { organizationId: string }) {
  const query = useInfiniteQuery(projectsQuery(organizationId));
  return (
    <Panel title="Projects" flush aside={<NewProject organizationId={organizationId} />}>
      <ResourceList
        label="Projects"
        query={query}
        rowKey={({ id }) => id}
        columns={[
          { header: 'Project', cell: ({ name }) => <span className="font-medium">{name}</span> },
          { header: 'Id', cell: ({ id }) => <IdText id={id} label="project id" />, from: 'sm' },
          { header: 'Since', cell: ({ created_at: at }) => <Timestamp at={at} />, from: 'md' },
          { header: 'Actions', cell: (project) => <DeleteProject project={project} />, align: 'right' },
        ]}
        empty={
          <EmptyState icon={FolderOpen} title="There is no project">
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
  const refusal = useOrganizationRefusal(organizationId, 'project.create');
  const create = useChange({
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
        submitLabel="Make project"
        refusal={name.trim() ? null : 'Give it a name.'}
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
  const refusal = useProjectRefusal(project.id, 'project.manage');
  const remove = useChange({
    mutationFn: () => deleteProject(project.id),
    refreshes: [organizationKeys.projects(project.organization_id), ME_KEY],
  });
  return (
    <RowActions>
      <ConfirmButton
        label="Delete"
        title={`Delete ${project.name}?`}
        confirmLabel="Delete"
        disabledReason={refusal}
        act={remove}
      >
        Its keys, webhooks and service accounts go with it. It is refused while anything of it runs.
      </ConfirmButton>
    </RowActions>
  );
}
