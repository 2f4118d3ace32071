import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { eventsQuery } from '../api/apps/instances.ts';
import type { AppInstance } from '../api/types.ts';
import { pluralize, shortId } from '../format/humanize.ts';
import { Notice } from '../ui/feedback/notice.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Panel } from '../ui/panel.tsx';
import { Badge } from '../ui/values/badge.tsx';
import { Fact, Facts } from '../ui/values/facts.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { evidenceOf, type Evidence } from './teardown-evidence.ts';

/** The evidence that nothing of an ended instance is left, or until when it is due. */
export function TeardownPanel({ instance }: { instance: AppInstance }) {
  const query = useQuery(eventsQuery(instance.id));
  const { state, due_at: dueAt } = instance.teardown;
  if (state === 'none') return null;
  return (
    <Panel
      title="Teardown"
      aside={
        <Badge tone={state === 'proved' ? 'success' : 'warn'}>{state === 'proved' ? 'Proven' : 'Open'}</Badge>
      }
    >
      <div className="flex flex-col gap-3">
        {state === 'open' && (
          <Notice tone="warn" title="Not proven yet">
            <p>
              The machine has not shown that the app is gone. The proof is due
              {dueAt ? <Due at={dueAt} /> : ' later'}, at the latest with the wipe of the machine.
            </p>
          </Notice>
        )}
        <QueryBoundary query={query} loading={<Skeleton label="Loading the evidence" rows={3} />}>
          {(events) =>
            events.map((event) => {
              const evidence = evidenceOf(event);
              return (
                evidence && (
                  <div key={event.id} className="flex flex-col gap-2.5">
                    <p className="text-sm">{event.message}.</p>
                    <Facts>
                      {event.member_id && <Fact name="Member">{shortId(event.member_id)}</Fact>}
                      <EvidenceFacts evidence={evidence} allocationId={instance.allocation_id} />
                    </Facts>
                  </div>
                )
              );
            })
          }
        </QueryBoundary>
      </div>
    </Panel>
  );
}

function Due({ at }: { at: string }) {
  return (
    <>
      {' '}
      by <Timestamp at={at} />
    </>
  );
}

function EvidenceFacts({ evidence, allocationId }: { evidence: Evidence; allocationId: string }) {
  switch (evidence.proof) {
    case 'never_started':
      return null;
    case 'wiped':
      return (
        <Fact name="Wipe record">
          <Link
            to="/allocations/$allocationId"
            params={{ allocationId }}
            className="text-accent-text underline"
          >
            {pluralize(evidence.certificates, 'certificate')}
          </Link>
        </Fact>
      );
    case 'observed':
      return (
        <>
          <Fact name="Processes">{evidence.processes}</Fact>
          <Fact name="Open ports">{evidence.ports}</Fact>
          <Fact name="Files">{evidence.files ? 'Left' : 'None'}</Fact>
          <Fact name="Killed">{evidence.forced ? 'Yes, after its time to end' : 'No'}</Fact>
          <Fact name="Observed">
            <Timestamp at={evidence.at} />
          </Fact>
        </>
      );
  }
}
