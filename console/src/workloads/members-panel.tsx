import { useQuery } from '@tanstack/react-query';
import { membersQuery } from '../api/apps/instances.ts';
import type { AppInstance, AppInstanceMember } from '../api/types.ts';
import { formatBytes } from '../format/bytes.ts';
import { shortId } from '../format/humanize.ts';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Panel } from '../ui/panel.tsx';
import { Fact, Facts } from '../ui/values/facts.tsx';
import { RelativeTime, Timestamp } from '../ui/values/timestamp.tsx';
import { ReasonHelp } from './reason-text.tsx';
import { StatusBadge } from './status-badge.tsx';

/** The processes of an instance, each on its machine. */
export function MembersPanel({ instance }: { instance: AppInstance }) {
  const query = useQuery(membersQuery(instance));
  return (
    <Panel title="Members">
      <QueryBoundary query={query} loading={<Skeleton label="Loading the members" rows={4} />}>
        {(members) => (
          <ul className="flex flex-col gap-4">
            {members.map((member) => (
              <Member key={member.id} member={member} />
            ))}
          </ul>
        )}
      </QueryBoundary>
    </Panel>
  );
}

function Member({ member }: { member: AppInstanceMember }) {
  const { id, role, status, reason, ports, cpu_seconds: cpu, memory_bytes: memory } = member;
  return (
    <li className="flex flex-col gap-2.5">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="text-sm font-medium">
          {role} <code className="font-mono text-xs font-normal text-ink-faint">{shortId(id)}</code>
        </span>
        <StatusBadge status={status} />
      </div>
      {reason && <ReasonHelp reason={reason} />}
      <Facts>
        {ports.length > 0 && <Fact name="Ports">{ports.join(', ')}</Fact>}
        {member.exit_code !== null && <Fact name="Exit code">{member.exit_code}</Fact>}
        {member.signal && <Fact name="Signal">{member.signal}</Fact>}
        {cpu !== null && <Fact name="Processor time">{cpu.toFixed(1)} s</Fact>}
        {memory !== null && <Fact name="Memory">{formatBytes(memory)}</Fact>}
        {member.observed_at && (
          <Fact name="Last observed">
            <RelativeTime since={member.observed_at} />
          </Fact>
        )}
        {member.unreachable_since && (
          <Fact name="Unreachable since">
            <Timestamp at={member.unreachable_since} />
          </Fact>
        )}
      </Facts>
    </li>
  );
}
