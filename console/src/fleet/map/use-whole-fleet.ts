import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { nodesQuery } from '../../api/fleet/fleet.ts';

/** Every host, page after page: a picture with holes would mislead. */
export function useWholeFleet() {
  const query = useInfiniteQuery(nodesQuery);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return query;
}
