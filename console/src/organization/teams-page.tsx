import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { UsersRound } from 'lucide-react';
import { useState } from 'react';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationDisabledReason } from '../api/me.ts';
import { createTeam, teamsQuery } from '../api/organization/teams.ts';
import type { Team } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { ProjectPage } from '../shell/project-page.tsx';
import { Button } from '../ui/actions/button.tsx';
import { ROW_LINK_CLASS, type Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { Surface } from '../ui/surface.tsx';
import { Badge } from '../ui/values/badge.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { TeamActions } from './team-actions.tsx';
import { TeamMembersPanel } from './team-members-panel.tsx';
import { TeamProjectsPanel } from './team-projects-panel.tsx';

const route = getRouteApi('/signed-in/organization/teams');

const COLUMNS: Column<Team>[] = [
  {
    header: 'Team',
    cell: ({ id, name, is_default: isDefault }) => (
      <span className="inline-flex items-center gap-2">
        <Link to="/organization/teams" search={{ team: id }} className={ROW_LINK_CLASS}>
          {name}
        </Link>
        {isDefault && <Badge tone="neutral">Default</Badge>}
      </span>
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
  { header: 'Actions', cell: (team) => <TeamActions team={team} />, align: 'right' },
];

export function TeamsPage() {
  return (
    <ProjectPage
      title="Teams"
      subtitle={() => 'Teams own projects. Permission groups granted to a team apply to all its members.'}
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
            <EmptyState icon={UsersRound} title="No teams yet">
              Create a team to grant permission groups to several people together.
            </EmptyState>
          }
        />
      </Surface>
      {chosen && <TeamMembersPanel key={chosen.id} team={chosen} />}
      {chosen && <TeamProjectsPanel team={chosen} />}
    </>
  );
}

function NewTeam({ organizationId }: { organizationId: string }) {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const refusal = useOrganizationDisabledReason(organizationId, 'member.manage');
  const make = useRefreshingMutation({
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
        submitLabel="Create team"
        refusal={name.trim() ? null : 'Enter a name.'}
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
