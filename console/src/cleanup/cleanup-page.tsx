import { useInfiniteQuery } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { cleanupQueueQuery } from '../api/cleanup.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { ShowMore } from '../ui/show-more.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Surface } from '../ui/surface.tsx';
import { BlockedSlotPanel } from './blocked-slot-panel.tsx';

export function CleanupPage() {
  const query = useInfiniteQuery(cleanupQueueQuery);
  return (
    <Page
      title="Cleanup blocked"
      subtitle="Slots that may not be sold again until somebody proves their disks are empty, or retires them."
    >
      <Loaded query={query} loading={<Skeleton label="Loading blocked slots" />}>
        {(blocked) =>
          blocked.length === 0 ? (
            <Surface>
              <EmptyState icon={ShieldCheck} title="No slot is blocked">
                Every disk that was given back is proven empty.
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
      </Loaded>
    </Page>
  );
}
