import { useInfiniteQuery } from '@tanstack/react-query';
import { Users } from 'lucide-react';
import { membersQuery } from '../api/organization/members.ts';
import type { Member } from '../api/types.ts';
import { NameWithDetail } from '../ui/values/name-with-detail.tsx';
import { StateBadge } from '../ui/values/state-badge.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { MemberActions } from './member-actions.tsx';

const COLUMNS: Column<Member>[] = [
  {
    header: 'Member',
    cell: ({ name, email }) => (
      <NameWithDetail name={name}>
        <span className="block max-w-40 truncate sm:max-w-none">{email}</span>
      </NameWithDetail>
    ),
  },
  {
    header: 'State',
    cell: ({ state }) => <StateBadge state={state} />,
    from: 'sm',
  },
  {
    header: 'Permission groups',
    cell: ({ bindings }) => (
      <span className="text-ink-muted">
        {[...new Set(bindings.map((binding) => binding.permission_group_name))].join(', ') || '—'}
      </span>
    ),
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
  { header: 'Actions', cell: (member) => <MemberActions member={member} />, align: 'right' },
];

export function MembersPanel({ organizationId }: { organizationId: string }) {
  const query = useInfiniteQuery(membersQuery(organizationId));
  return (
    <Panel title="Members" flush>
      <ResourceList
        label="Members"
        query={query}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={Users} title="No members yet">
            Invite someone to get started.
          </EmptyState>
        }
      />
    </Panel>
  );
}
