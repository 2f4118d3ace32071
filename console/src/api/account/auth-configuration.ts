import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { userKeys } from '../query-keys.ts';

/** Where people of this platform may sign in. */
export const authConfigurationQuery = queryOptions({
  queryKey: userKeys.authConfiguration,
  queryFn: ({ signal }) => unwrap(client.GET('/api/v1/auth/configuration', { signal })),
});
