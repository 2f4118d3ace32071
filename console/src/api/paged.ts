import { infiniteQueryOptions, type QueryKey } from '@tanstack/react-query';

export interface ListPage<Item> {
  items: Item[];
  next_page: string | null;
}

/** A list of the contract, page after page, as one flat list. */
export function pagedQuery<Item>(
  queryKey: QueryKey,
  fetchPage: (query: { page?: string }, signal: AbortSignal) => Promise<ListPage<Item>>,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam ? { page: pageParam } : {}, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_page,
    select: (data) => data.pages.flatMap((page) => page.items),
  });
}
