import { useInfiniteQuery } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { cleanupQueueQuery } from '../api/allocations/cleanup.ts';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Page } from '../ui/page.tsx';
import { ShowMore } from '../ui/tables/show-more.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Surface } from '../ui/surface.tsx';
import { BlockedSlotPanel } from './blocked-slot-panel.tsx';

export function CleanupPage() {
  const query = useInfiniteQuery(cleanupQueueQuery);
  return (
    <Page
      title="Quarantine"
      subtitle="Slots out of service until their wipe is verified or they are retired."
    >
      <QueryBoundary query={query} loading={<Skeleton label="Loading quarantined slots" />}>
        {(blocked) =>
          blocked.length === 0 ? (
            <Surface>
              <EmptyState icon={ShieldCheck} title="No quarantined slots">
                No released disk waits for a proof of its wipe.
              </EmptyState>
            </Surface>
          ) : (
            <>
              {blocked.map((one) => (
                <BlockedSlotPanel key={one.slot.id} blocked={one} />
              ))}
              <ShowMore query={query} />
            </>
          )
        }
      </QueryBoundary>
    </Page>
  );
}
