import { useInfiniteQuery } from '@tanstack/react-query';
import { cleanupQueueQuery } from '../../api/allocations/cleanup.ts';
import { incidentsQuery } from '../../api/operations/incidents.ts';
import type { NavEntry } from './areas.ts';

/** How many open incidents or quarantined slots wait for somebody; hidden at zero. */
export function AttentionCount({ counts }: { counts: NonNullable<NavEntry['counts']> }) {
  return counts === 'incidents' ? <OpenIncidents /> : <QuarantinedSlots />;
}

function OpenIncidents() {
  const { data, hasNextPage } = useInfiniteQuery(incidentsQuery('open'));
  return <Count count={data?.length ?? 0} more={hasNextPage} noun="open" />;
}

function QuarantinedSlots() {
  const { data, hasNextPage } = useInfiniteQuery(cleanupQueueQuery);
  return <Count count={data?.length ?? 0} more={hasNextPage} noun="quarantined" />;
}

function Count({ count, more, noun }: { count: number; more: boolean; noun: string }) {
  if (count === 0) return null;
  return (
    <span className="tone-warn ml-auto rounded-full bg-tone/16 px-1.5 text-xs font-medium text-tone-text tabular-nums">
      {more ? `${count}+` : count}
      <span className="sr-only"> {noun}</span>
    </span>
  );
}
