import { infiniteQueryOptions, type QueryKey } from '@tanstack/react-query';

export interface ListPage<Item> {
  items: Item[];
  next_page: string | null;
}

/**
 * A list of the contract, page after page, as one flat list; refreshed at an interval where no event
 * announces changes.
 */
export function pagedQuery<Item>(
  queryKey: QueryKey,
  fetchPage: (query: { page?: string }, signal: AbortSignal) => Promise<ListPage<Item>>,
  lookAgainMs: number | false = false,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam ? { page: pageParam } : {}, signal),
    initialPageParam: null as string | null,
    refetchInterval: lookAgainMs,
    getNextPageParam: (last) => last.next_page,
    select: (data) => data.pages.flatMap((page) => page.items),
  });
}

/** All items of a list that a page shows as a whole. */
export async function everyPage<Item>(
  read: (query: { limit: number; page?: string }) => Promise<ListPage<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let page: string | null = null;
  do {
    const answer: ListPage<Item> = await read({ limit: 200, ...(page ? { page } : {}) });
    items.push(...answer.items);
    page = answer.next_page;
  } while (page);
  return items;
}
