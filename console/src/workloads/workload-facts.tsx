import { Link } from '@tanstack/react-router';
import type { AppInstance } from '../api/types.ts';
import { Panel } from '../ui/panel.tsx';
import { Fact, Facts, TruncatedName } from '../ui/values/facts.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

export function WorkloadFacts({ instance }: { instance: AppInstance }) {
  const { allocation_id: allocationId, started_at: startedAt, ended_at: endedAt } = instance;
  return (
    <Panel title="Details">
      <Facts>
        <Fact name="Id" copy={instance.id}>
          <TruncatedName>{instance.id}</TruncatedName>
        </Fact>
        <Fact name="Resource name" copy={instance.resource_name}>
          <TruncatedName>{instance.resource_name}</TruncatedName>
        </Fact>
        <Fact name="Allocation">
          <Link
            to="/allocations/$allocationId"
            params={{ allocationId }}
            className="text-accent-text underline"
          >
            {instance.allocation_name}
          </Link>
        </Fact>
        {instance.parameters.map(({ name, value }) => (
          <Fact key={name} name={name}>
            {value === '' ? '—' : value}
          </Fact>
        ))}
        <Fact name="Started by">{instance.created_by_name}</Fact>
        <Fact name="Requested">
          <Timestamp at={instance.created_at} />
        </Fact>
        {startedAt && (
          <Fact name="Started">
            <Timestamp at={startedAt} />
          </Fact>
        )}
        {endedAt && (
          <Fact name="Ended">
            <Timestamp at={endedAt} />
          </Fact>
        )}
      </Facts>
    </Panel>
  );
}
