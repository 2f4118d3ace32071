import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { membersQuery } from '../../api/apps/instances.ts';
import type { AppInstance, AppInstanceMember } from '../../api/types.ts';
import { shortId } from '../../format/humanize.ts';
import { Panel } from '../../ui/panel.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Select } from '../../ui/forms/select.tsx';
import { LogView } from './log-view.tsx';

export function LogPanel({ instance }: { instance: AppInstance }) {
  const query = useQuery(membersQuery(instance));
  return (
    <Panel title="Log">
      <QueryBoundary query={query} loading={<Skeleton label="Loading the log" rows={6} />}>
        {(members) => <MemberLog instanceId={instance.id} members={members} />}
      </QueryBoundary>
    </Panel>
  );
}

function MemberLog({ instanceId, members }: { instanceId: string; members: AppInstanceMember[] }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const member = members.find(({ id }) => id === chosen) ?? members[0];
  if (!member) return <p className="text-sm text-ink-muted">It has no members.</p>;
  return (
    <div className="flex flex-col gap-3">
      {members.length > 1 && (
        <Select
          label="Member"
          value={member.id}
          onChange={setChosen}
          options={members.map(({ id, role }) => ({ value: id, label: `${role} ${shortId(id)}` }))}
        />
      )}
      <LogView key={member.id} instanceId={instanceId} member={member} />
    </div>
  );
}
