import { createGpuaasClient } from '@gpuaas/sdk/client';
import { watchedFetch } from '../live/connection.ts';
import { queryClient } from './query-client.ts';
import { ME_KEY } from './query-keys.ts';
import type { Me } from './types.ts';

/** The console's only way to the API: the browser's sign-in, on the origin that served the page. */
export const client = createGpuaasClient({
  baseUrl: location.origin,
  fetch: watchedFetch,
  csrfToken: () => queryClient.getQueryData<Me | null>(ME_KEY)?.csrf_token ?? null,
});
