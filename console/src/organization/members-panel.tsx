import { useInfiniteQuery } from '@tanstack/react-query';
import { Users } from 'lucide-react';
import { membersQuery } from '../api/members.ts';
import type { Member } from '../api/types.ts';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import { MemberActions } from './member-actions.tsx';

const COLUMNS: Column<Member>[] = [
  {
    header: 'Member',
    cell: ({ name, email }) => (
      <span className="flex flex-col">
        <span className="font-medium">{name}</span>
        <span className="block max-w-40 truncate text-xs text-ink-faint sm:max-w-none">{email}</span>
      </span>
    ),
  },
  {
    header: 'State',
    cell: ({ state }) => (
      <Badge tone={state === 'active' ? 'success' : 'neutral'}>
        {state === 'active' ? 'Active' : 'Disabled'}
      </Badge>
    ),
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
          <EmptyState icon={Users} title="Nobody is a member">
            Invite somebody; they become a member when they accept.
          </EmptyState>
        }
      />
    </Panel>
  );
}
