import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import { incidentsQuery } from '../api/operations/incidents.ts';
import type { Incident } from '../api/types.ts';
import { humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import { ROW_LINK_CLASS, type Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { Select } from '../ui/forms/select.tsx';
import { Surface } from '../ui/surface.tsx';
import { RelativeTime } from '../ui/values/timestamp.tsx';
import { ParkedEventsPanel } from './parked-events-panel.tsx';
import { INCIDENT_STATES, seen, SEVERITIES } from './severities.ts';

const route = getRouteApi('/signed-in/operator/incidents');

const COLUMNS: Column<Incident>[] = [
  {
    header: 'Incident',
    cell: ({ id, title, summary }) => (
      <span className="flex flex-col">
        <Link to="/operator/incidents/$incidentId" params={{ incidentId: id }} className={ROW_LINK_CLASS}>
          {title}
        </Link>
        <span title={summary} className="block max-w-md truncate text-xs text-ink-faint">
          {summary}
        </span>
      </span>
    ),
  },
  {
    header: 'Severity',
    cell: ({ severity }) => <Badge tone={SEVERITIES[severity]}>{humanize(severity)}</Badge>,
  },
  {
    header: 'State',
    cell: ({ state }) => <Badge tone={INCIDENT_STATES[state].tone}>{INCIDENT_STATES[state].label}</Badge>,
    from: 'sm',
  },
  { header: 'Opened', cell: ({ opened_at: at }) => <RelativeTime since={at} />, from: 'md' },
  {
    header: 'Seen',
    cell: ({ occurrences }) => seen(occurrences),
    align: 'right',
    from: 'lg',
  },
];

export function IncidentsPage() {
  const { state = 'open' } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(incidentsQuery(state));
  return (
    <Page
      title="Incidents"
      subtitle="Problems found by the platform, each with a runbook"
      actions={
        <Select
          label="Status filter"
          hideLabel
          value={state}
          onChange={(next) => void navigate({ search: next === 'resolved' ? { state: next } : {} })}
          options={[
            { value: 'open', label: 'Open' },
            { value: 'resolved', label: 'Resolved' },
          ]}
        />
      }
    >
      <Surface>
        <ResourceList
          label="Incidents"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState
              icon={CircleCheck}
              title={state === 'open' ? 'No open incidents' : 'No resolved incidents yet'}
            >
              Incidents open automatically, and most close when their cause is gone.
            </EmptyState>
          }
        />
      </Surface>
      {state === 'open' && <ParkedEventsPanel />}
    </Page>
  );
}
