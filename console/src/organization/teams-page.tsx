import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { UsersRound } from 'lucide-react';
import { useState } from 'react';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationRefusal } from '../api/session.ts';
import { createTeam, deleteTeam, teamsQuery } from '../api/teams.ts';
import type { Team } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { ProjectPage } from '../shell/project-page.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { ROW_LINK_CLASS, type Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Surface } from '../ui/surface.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import { TeamMembersPanel } from './team-members-panel.tsx';

const route = getRouteApi('/signed-in/organization/teams');

const COLUMNS: Column<Team>[] = [
  {
    header: 'Team',
    cell: ({ id, name }) => (
      <Link to="/organization/teams" search={{ team: id }} className={ROW_LINK_CLASS}>
        {name}
      </Link>
    ),
  },
  {
    header: 'Description',
    cell: ({ description }) => <span className="text-ink-muted">{description || '—'}</span>,
    from: 'md',
  },
  {
    header: 'Since',
    cell: ({ created_at: at }) => (
      <span className="text-ink-muted">
        <Timestamp at={at} />
      </span>
    ),
    from: 'lg',
  },
  { header: 'Actions', cell: (team) => <DeleteTeam team={team} />, align: 'right' },
];

export function TeamsPage() {
  return (
    <ProjectPage
      title="Teams"
      subtitle={() => 'Permission groups bound to a team hold for everybody in it.'}
      actions={({ organization }) => <NewTeam organizationId={organization.id} />}
    >
      {({ organization }) => <Teams organizationId={organization.id} />}
    </ProjectPage>
  );
}

function Teams({ organizationId }: { organizationId: string }) {
  const query = useInfiniteQuery(teamsQuery(organizationId));
  const { team: chosenId } = route.useSearch();
  const chosen = query.data?.find(({ id }) => id === chosenId);
  return (
    <>
      <Surface>
        <ResourceList
          label="Teams"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={UsersRound} title="There is no team">
              Make one to give several people the same permissions at once.
            </EmptyState>
          }
        />
      </Surface>
      {chosen && <TeamMembersPanel key={chosen.id} team={chosen} />}
    </>
  );
}

function NewTeam({ organizationId }: { organizationId: string }) {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const refusal = useOrganizationRefusal(organizationId, 'member.manage');
  const make = useChange({
    mutationFn: createTeam,
    refreshes: [organizationKeys.teams(organizationId)],
    onSuccess: () => {
      setOpen(false);
      setName('');
      setDescription('');
    },
  });
  return (
    <>
      <Button variant="primary" disabledReason={refusal} onClick={() => setOpen(true)}>
        New team
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="New team"
        submitLabel="Make team"
        refusal={name.trim() ? null : 'Give the team a name.'}
        busy={make.isPending}
        error={make.error}
        onSubmit={() =>
          make.mutate({ organization_id: organizationId, name, ...(description ? { description } : {}) })
        }
      >
        <Field label="Name" value={name} onChange={setName} maxLength={64} placeholder="Research" />
        <Field label="Description" optional value={description} onChange={setDescription} maxLength={200} />
      </FormDialog>
    </>
  );
}

function DeleteTeam({ team }: { team: Team }) {
  const refusal = useOrganizationRefusal(team.organization_id, 'member.manage');
  const remove = useChange({
    mutationFn: () => deleteTeam(team.id),
    refreshes: [organizationKeys.teams(team.organization_id)],
  });
  return (
    <RowActions>
      <ConfirmButton
        label="Delete"
        title={`Delete the team ${team.name}?`}
        confirmLabel="Delete"
        disabledReason={refusal}
        act={remove}
      >
        Its members lose at once what was bound to the team. They stay members of the organization.
      </ConfirmButton>
    </RowActions>
  );
}
