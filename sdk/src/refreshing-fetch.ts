import type { TokenSource } from './access-token.ts';

type Fetch = (request: Request) => Promise<Response>;

/** Repeats a request that got 401 once if another token is available, with the same idempotency key. */
export function refreshingFetch(send: Fetch, accessToken: TokenSource | undefined): Fetch {
  if (!accessToken) return send;
  return async (request) => {
    const again = request.clone();
    const response = await send(request);
    const rejected = bearerOf(request);
    if (response.status !== 401 || rejected === null) return response;
    const token = await accessToken(rejected);
    if (token === null || token === rejected) return response;
    await response.body?.cancel();
    again.headers.set('authorization', `Bearer ${token}`);
    return await send(again);
  };
}

function bearerOf(request: Request): string | null {
  return /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? null;
}
