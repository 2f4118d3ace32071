import { createGpuaasClient } from '@gpuaas/sdk/client';
import { subscribeEvents } from '@gpuaas/sdk/events';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';

export interface SeenInBrowser {
  email: string;
  groups: string[];
  refusal: string;
  event: string;
}

/** Runs in the page, where nothing of Node is. */
export async function useSdk(given: { apiKey: string; projectId: string }): Promise<SeenInBrowser> {
  const { apiKey, projectId } = given;
  const client = createGpuaasClient({ baseUrl: location.origin, apiKey });
  const me = await unwrap(client.GET('/api/v1/me'));
  const { items: images } = await unwrap(client.GET('/api/v1/images'));
  const groups: string[] = [];
  const query = { organization_id: me.organizations[0]!.id, limit: 2 };
  const pages = paginate((page) =>
    unwrap(client.GET('/api/v1/permission-groups', { params: { query: { ...query, ...page } } })),
  );
  for await (const { id } of pages) groups.push(id);
  const params = { path: { allocation_id: crypto.randomUUID() } };
  const refusal = await unwrap(client.GET('/api/v1/allocations/{allocation_id}', { params })).then(
    () => 'none',
    (error: { code: string }) => error.code,
  );
  const stop = new AbortController();
  const launch = (): void =>
    void client.POST('/api/v1/allocations', {
      body: {
        project_id: projectId,
        sku: 'h200-sxm-slice',
        gpu_count: 1,
        image: images[0]!.image,
        region: 'uae-north-1',
      },
    });
  const events = subscribeEvents({
    baseUrl: location.origin,
    apiKey,
    signal: stop.signal,
    onStatus: (status) => status === 'open' && launch(),
  });
  let event = '';
  for await (const { event_type: type } of events) {
    event = type;
    if (type.startsWith('allocation.')) break;
  }
  stop.abort();
  return { email: me.user!.email, groups, refusal, event };
}
