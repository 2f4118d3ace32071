import { useInfiniteQuery } from '@tanstack/react-query';
import { membersQuery } from '../api/organization/members.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useMe, useOrganizationDisabledReason } from '../api/me.ts';
import { addToTeam, removeFromTeam, setTeamRole, teamMembersQuery } from '../api/organization/teams.ts';
import type { Team, TeamMember } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProblemNotice } from '../ui/feedback/problem-notice.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Select } from '../ui/forms/select.tsx';
import { Badge } from '../ui/values/badge.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

export function TeamMembersPanel({ team }: { team: Team }) {
  const query = useInfiniteQuery(teamMembersQuery(team.id));
  const members = useInfiniteQuery(membersQuery(team.organization_id)).data ?? [];
  const me = useMe();
  const withoutRole = useOrganizationDisabledReason(team.organization_id, 'member.manage');
  const manages = query.data?.some(({ user_id: id, role }) => id === me?.user?.id && role === 'manager');
  const refusal = manages ? null : withoutRole;
  const refreshes = [organizationKeys.teamMembers(team.id)];
  const add = useRefreshingMutation({ mutationFn: addToTeam, refreshes });
  const take = useRefreshingMutation({ mutationFn: removeFromTeam, refreshes });
  const change = useRefreshingMutation({ mutationFn: setTeamRole, refreshes });
  const error = add.error ?? take.error ?? change.error;
  const inTeam = new Set(query.data?.map(({ user_id: id }) => id));
  const others = members.filter(({ user_id: id, state }) => state === 'active' && !inTeam.has(id));
  return (
    <Panel title={`Members of ${team.name}`} flush>
      <ResourceList
        label={`Members of ${team.name}`}
        query={query}
        rowKey={({ user_id: id }) => id}
        empty={<p className="p-4 text-sm text-ink-muted">No members yet</p>}
        columns={[
          { header: 'Member', cell: ({ name }) => <span className="font-medium">{name}</span> },
          {
            header: 'E-mail',
            cell: ({ email }) => <span className="text-ink-muted">{email}</span>,
            from: 'sm',
          },
          {
            header: 'Role',
            cell: ({ role }) =>
              role === 'manager' ? <Badge tone="info">Manager</Badge> : <span>Member</span>,
          },
          { header: 'Added', cell: ({ added_at: at }) => <Timestamp at={at} />, from: 'lg' },
          {
            header: 'Actions',
            align: 'right',
            cell: ({ user_id: userId, name, role }: TeamMember) => (
              <RowActions>
                <Button
                  size="sm"
                  disabledReason={refusal}
                  onClick={() =>
                    change.mutate({
                      teamId: team.id,
                      userId,
                      role: role === 'manager' ? 'member' : 'manager',
                    })
                  }
                >
                  {role === 'manager' ? 'Make member' : 'Make manager'}
                  <span className="sr-only"> {name}</span>
                </Button>
                <Button
                  size="sm"
                  disabledReason={refusal}
                  onClick={() => take.mutate({ teamId: team.id, userId })}
                >
                  Remove<span className="sr-only"> {name}</span>
                </Button>
              </RowActions>
            ),
          },
        ]}
      />
      <div className="flex flex-col gap-3 border-t border-line p-4">
        {error && <ProblemNotice error={error} />}
        <div className="max-w-md">
          <Select
            label="Add a member"
            hideLabel
            value={null}
            placeholder={refusal ?? (others.length > 0 ? 'Add a member' : 'All members are in this team')}
            onChange={(userId) => add.mutate({ teamId: team.id, userId })}
            options={others.map(({ user_id: id, name, email }) => ({
              value: id,
              label: name,
              hint: email,
              disabledReason: refusal,
            }))}
          />
        </div>
      </div>
    </Panel>
  );
}
