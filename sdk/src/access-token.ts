/**
 * The access token of a signed-in person or program; null when there is none. When the server refused a
 * token, the source is called again with that token: if it returns another one, the request is sent once
 * more.
 */
export type TokenSource = (rejected?: string) => Promise<string | null>;

/** A token and its expiry. */
export interface AccessToken {
  token: string;
  expiresAt: Date;
}

/** How a token is renewed. */
export interface RefreshOptions {
  /** Fetches another token; null when the person has to sign in again. */
  renew: () => Promise<AccessToken | null>;
  /** A token that is already known. */
  initial?: AccessToken | null;
  /** Renewed when it has less than this to live: time for the request, and for clocks that differ. */
  spareMs?: number;
}

/** A token source that renews shortly before expiry and after a refusal, once for all concurrent callers. */
export function refreshingToken({ renew, initial = null, spareMs = 60_000 }: RefreshOptions): TokenSource {
  let current = initial;
  let renewal: Promise<AccessToken | null> | undefined;
  return async (rejected) => {
    const usable =
      current !== null && current.token !== rejected && current.expiresAt.getTime() - Date.now() > spareMs;
    if (!usable) {
      renewal ??= renew().finally(() => (renewal = undefined));
      current = await renewal;
    }
    return current?.token ?? null;
  };
}
