import { useQuery } from '@tanstack/react-query';
import { burnInsQuery, maintenanceQuery } from '../../api/fleet/fleet-facts.ts';
import type { BurnIn, MaintenanceWindow } from '../../api/types.ts';
import { pluralize } from '../../format/humanize.ts';
import { Badge } from '../../ui/values/badge.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Timestamp } from '../../ui/values/timestamp.tsx';
import type { Tone } from '../../ui/values/tone.ts';
import {
  ScheduleMaintenanceButton,
  CancelMaintenanceButton,
  RecordBurnInButton,
} from './maintenance-actions.tsx';

const WINDOWS: Record<MaintenanceWindow['state'], { label: string; tone: Tone }> = {
  scheduled: { label: 'Scheduled', tone: 'info' },
  in_progress: { label: 'In progress', tone: 'warn' },
  over: { label: 'Ended', tone: 'neutral' },
  cancelled: { label: 'Cancelled', tone: 'neutral' },
};

/** Burn-in before the first sale, and maintenance since. */
export function MaintenancePanel({ nodeId }: { nodeId: string }) {
  const burnIns = useQuery(burnInsQuery(nodeId));
  const windows = useQuery(maintenanceQuery(nodeId));
  return (
    <Panel title="Burn-in and maintenance">
      <div className="flex flex-col gap-3 text-sm">
        <QueryBoundary query={burnIns} loading={<Skeleton label="Loading burn-ins" rows={1} />}>
          {(records) =>
            records.length > 0 ? (
              <ul className="flex flex-col gap-2">
                {records.map((record) => (
                  <BurnInRecord key={record.id} record={record} />
                ))}
              </ul>
            ) : (
              <p className="text-ink-muted">No burn-in yet. A host is sold only after a passed burn-in.</p>
            )
          }
        </QueryBoundary>
        <QueryBoundary query={windows} loading={<Skeleton label="Loading maintenance" rows={1} />}>
          {(items) =>
            items.length > 0 ? (
              <ul className="flex flex-col gap-2 border-t border-line pt-3">
                {items.map((item) => (
                  <Window key={item.id} window={item} />
                ))}
              </ul>
            ) : (
              <p className="border-t border-line pt-3 text-ink-muted">No maintenance scheduled.</p>
            )
          }
        </QueryBoundary>
        <div className="flex flex-wrap gap-2 border-t border-line pt-3">
          <RecordBurnInButton nodeId={nodeId} />
          <ScheduleMaintenanceButton nodeId={nodeId} />
        </div>
      </div>
    </Panel>
  );
}

function BurnInRecord({ record: { result, evidence, recorded_at: at } }: { record: BurnIn }) {
  return (
    <li className="flex flex-col gap-0.5">
      <span className="flex flex-wrap items-center gap-2">
        <Badge tone={result === 'passed' ? 'success' : 'danger'}>
          {result === 'passed' ? 'Burn-in passed' : 'Burn-in failed'}
        </Badge>
        <span className="text-ink-faint">
          <Timestamp at={at} />
        </span>
      </span>
      <span className="wrap-anywhere text-ink-muted">{evidence}</span>
    </li>
  );
}

function Window({ window }: { window: MaintenanceWindow }) {
  const { label, tone } = WINDOWS[window.state];
  return (
    <li className="flex flex-col gap-0.5">
      <span className="flex flex-wrap items-center gap-2">
        <Badge tone={tone}>{label}</Badge>
        <span className="text-ink-faint">
          <Timestamp at={window.starts_at} /> to <Timestamp at={window.ends_at} />
        </span>
      </span>
      <span className="text-ink-muted">
        {window.reason} · tenants of {pluralize(window.notified_allocations, 'allocation')} notified
      </span>
      <CancelMaintenanceButton window={window} />
    </li>
  );
}
