import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useOrganizationDisabledReason } from '../api/me.ts';
import { projectsQuery } from '../api/organization/settings.ts';
import { deleteTeam, makeDefaultTeam, teamsQuery } from '../api/organization/teams.ts';
import { organizationKeys } from '../api/query-keys.ts';
import type { Team } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Select } from '../ui/forms/select.tsx';

export function TeamActions({ team }: { team: Team }) {
  const refusal = useOrganizationDisabledReason(team.organization_id, 'member.manage');
  const [successor, setSuccessor] = useState<string | null>(null);
  const refreshes = [
    organizationKeys.teams(team.organization_id),
    organizationKeys.projects(team.organization_id),
  ];
  const makeDefault = useRefreshingMutation({ mutationFn: () => makeDefaultTeam(team.id), refreshes });
  const remove = useRefreshingMutation({
    mutationFn: () => deleteTeam({ id: team.id, transferTo: successor }),
    refreshes,
  });
  return (
    <RowActions>
      {!team.is_default && (
        <Button
          size="sm"
          disabledReason={refusal}
          busy={makeDefault.isPending}
          onClick={() => makeDefault.mutate()}
        >
          Make default<span className="sr-only"> team: {team.name}</span>
        </Button>
      )}
      <ConfirmButton
        label="Delete"
        title={`Delete the team ${team.name}?`}
        confirmLabel="Delete"
        disabledReason={refusal ?? (team.is_default ? 'Make another team the default first' : null)}
        act={remove}
      >
        Its members lose the permission groups of the team immediately. They stay in the organization.
        <Successor team={team} value={successor} onChange={setSuccessor} />
      </ConfirmButton>
    </RowActions>
  );
}

/** Asks for the team that takes over, if there is something to take over. */
function Successor(props: { team: Team; value: string | null; onChange: (teamId: string) => void }) {
  const { team, value, onChange } = props;
  const projects = useInfiniteQuery(projectsQuery(team.organization_id, team.id)).data ?? [];
  const teams = useInfiniteQuery(teamsQuery(team.organization_id)).data ?? [];
  if (projects.length === 0) return null;
  return (
    <div className="mt-3 flex flex-col gap-2 text-ink">
      <p>The team owns projects, such as {projects[0]!.name}. Another team must take them over.</p>
      <Select
        label="Team that takes over"
        value={value}
        placeholder="Choose a team"
        onChange={onChange}
        options={teams
          .filter(({ id }) => id !== team.id)
          .map(({ id, name, is_default: isDefault }) => ({
            value: id,
            label: name,
            ...(isDefault ? { hint: 'Default team' } : {}),
          }))}
      />
    </div>
  );
}
