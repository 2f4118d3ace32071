import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { operatorKeys } from '../query-keys.ts';

/** People whose address begins like this; everybody when it is empty. */
export const peopleQuery = (email: string) =>
  pagedQuery(operatorKeys.people(email), (page, signal) =>
    unwrap(
      client.GET('/api/v1/admin/people', {
        params: { query: { ...(email === '' ? {} : { email }), ...page } },
        signal,
      }),
    ),
  );

export function endSignInsOfPerson(id: string, reason: string) {
  return unwrap(
    client.POST('/api/v1/admin/people/{user_id}/end-sign-ins', {
      params: { path: { user_id: id } },
      body: { reason },
    }),
  );
}
