/** A page of a list in the contract. */
export interface Page<Item> {
  items: Item[];
  next_page: string | null;
}

/**
 * Every item of a list, page after page. `fetchPage` gets the cursor to send, none for the first page:
 *
 *     paginate((page) => unwrap(client.GET('/api/v1/admin/nodes', { params: { query: { ...page } } })))
 */
export async function* paginate<Item>(
  fetchPage: (page: { page?: string }) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await fetchPage(cursor === null ? {} : { page: cursor });
    yield* page.items;
    cursor = page.next_page;
  } while (cursor !== null);
}
