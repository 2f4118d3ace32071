import type { TestApi } from '../../harness/api.ts';

/** Sends a request that must succeed, as one of the people. */
export async function ask(
  api: TestApi,
  person: string,
  method: 'GET' | 'POST' | 'PUT',
  url: string,
  payload?: object,
) {
  const answer = await api.server.inject({
    method,
    url,
    headers: { authorization: `Bearer ${api.people[person]!.apiKey}` },
    ...(payload ? { payload } : {}),
  });
  if (answer.statusCode >= 300) throw new Error(`${method} ${url} → ${answer.statusCode} ${answer.body}`);
  return answer;
}
