import { useInfiniteQuery } from '@tanstack/react-query';
import { membersQuery } from '../api/members.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationRefusal } from '../api/session.ts';
import { addToTeam, takeFromTeam, teamMembersQuery } from '../api/teams.ts';
import type { Team, TeamMember } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Select } from '../ui/select.tsx';
import { Timestamp } from '../ui/timestamp.tsx';

export function TeamMembersPanel({ team }: { team: Team }) {
  const query = useInfiniteQuery(teamMembersQuery(team.id));
  const everybody = useInfiniteQuery(membersQuery(team.organization_id)).data ?? [];
  const refusal = useOrganizationRefusal(team.organization_id, 'member.manage');
  const refreshes = [organizationKeys.teamMembers(team.id)];
  const add = useChange({ mutationFn: addToTeam, refreshes });
  const take = useChange({ mutationFn: takeFromTeam, refreshes });
  const inTeam = new Set(query.data?.map(({ user_id: id }) => id));
  const others = everybody.filter(({ user_id: id, state }) => state === 'active' && !inTeam.has(id));
  return (
    <Panel title={`Members of ${team.name}`} flush>
      <ResourceList
        label={`Members of ${team.name}`}
        query={query}
        rowKey={({ user_id: id }) => id}
        empty={<p className="p-4 text-sm text-ink-muted">Nobody is in this team.</p>}
        columns={[
          { header: 'Member', cell: ({ name }) => <span className="font-medium">{name}</span> },
          {
            header: 'E-mail',
            cell: ({ email }) => <span className="text-ink-muted">{email}</span>,
            from: 'sm',
          },
          { header: 'Added', cell: ({ added_at: at }) => <Timestamp at={at} />, from: 'lg' },
          {
            header: 'Actions',
            align: 'right',
            cell: ({ user_id: userId, name }: TeamMember) => (
              <RowActions>
                <Button
                  size="sm"
                  disabledReason={refusal}
                  onClick={() => take.mutate({ teamId: team.id, userId })}
                >
                  Take out<span className="sr-only"> {name}</span>
                </Button>
              </RowActions>
            ),
          },
        ]}
      />
      <div className="flex flex-col gap-3 border-t border-line p-4">
        {(add.error ?? take.error) && <ProblemNotice error={(add.error ?? take.error) as Error} />}
        <div className="max-w-md">
          <Select
            label="Add a member"
            hideLabel
            value={null}
            placeholder={refusal ?? (others.length > 0 ? 'Add a member' : 'Everybody is in this team')}
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
