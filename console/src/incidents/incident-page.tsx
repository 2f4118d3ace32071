import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { incidentQuery } from '../api/operations/incidents.ts';
import type { Incident } from '../api/types.ts';
import { HostLink } from '../fleet/nodes/host-link.tsx';
import { humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import { Code, Fact, Facts } from '../ui/values/facts.tsx';
import { JsonBlock } from '../ui/values/json-block.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { NotFound } from '../ui/feedback/not-found.tsx';
import { Page } from '../ui/page.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { IncidentActions } from './incident-actions.tsx';
import { RunbookPanel } from './runbook-panel.tsx';
import { INCIDENT_STATES, seen, SEVERITIES } from './severities.ts';

const route = getRouteApi('/signed-in/operator/incidents/$incidentId');

export function IncidentPage() {
  const { incidentId } = route.useParams();
  const query = useQuery(incidentQuery(incidentId));
  return (
    <QueryBoundary
      query={query}
      loading={<Skeleton label="Loading the incident" />}
      missing={<NotFound what="incident" />}
    >
      {(incident) => <IncidentDetail incident={incident} />}
    </QueryBoundary>
  );
}

function IncidentDetail({ incident }: { incident: Incident }) {
  const { label, tone } = INCIDENT_STATES[incident.state];
  return (
    <Page
      title={incident.title}
      aside={<Badge tone={tone}>{label}</Badge>}
      subtitle={incident.summary}
      actions={<IncidentActions incident={incident} />}
    >
      <div className="grid items-start gap-4 lg:grid-cols-[1fr_22rem]">
        <RunbookPanel path={incident.runbook} />
        <div className="flex min-w-0 flex-col gap-4">
          <Panel title="Details">
            <IncidentFacts incident={incident} />
          </Panel>
          <Panel title="Evidence">
            <JsonBlock label="Evidence" value={incident.detail} />
          </Panel>
        </div>
      </div>
    </Page>
  );
}

function IncidentFacts({ incident }: { incident: Incident }) {
  const { target_type: targetType, target_id: targetId } = incident;
  return (
    <Facts>
      <Fact name="Severity">
        <Badge tone={SEVERITIES[incident.severity]}>{humanize(incident.severity)}</Badge>
      </Fact>
      <Fact name={humanize(targetType)} copy={targetId}>
        {targetType === 'node' ? (
          <HostLink nodeId={targetId} />
        ) : targetType === 'allocation' ? (
          <Link
            to="/operator/allocations/$allocationId"
            params={{ allocationId: targetId }}
            className="text-accent-text underline"
          >
            Open the allocation
          </Link>
        ) : (
          <Code>{targetId}</Code>
        )}
      </Fact>
      <Fact name="Opened">
        <Timestamp at={incident.opened_at} />
      </Fact>
      <Fact name="Last seen">
        <Timestamp at={incident.last_seen_at} />, {seen(incident.occurrences)}
      </Fact>
      <Fact name="Acknowledge by">
        <Timestamp at={incident.deadline} />
      </Fact>
      {incident.acknowledged_at && (
        <Fact name="Acknowledged">
          <Timestamp at={incident.acknowledged_at} />
        </Fact>
      )}
      {incident.resolved_at && (
        <Fact name="Resolved">
          <Timestamp at={incident.resolved_at} />
        </Fact>
      )}
      {incident.resolution && <Fact name="Resolution">{incident.resolution}</Fact>}
      <Fact name="Id" copy={incident.id}>
        <Code>{incident.id}</Code>
      </Fact>
    </Facts>
  );
}
