/**
 * The access token of a person or program that signed in; null when there is none. When the server refused a token,
 * it is asked again with that token: whoever can renew it answers with another one, and the request is sent once more.
 */
export type TokenSource = (rejected?: string) => Promise<string | null>;

/** A token and when it ends. */
export interface AccessToken {
  token: string;
  expiresAt: Date;
}

/** How a token is renewed. */
export interface RenewOptions {
  /** Fetches another token; null when the person has to sign in again. */
  renew: () => Promise<AccessToken | null>;
  /** One that is already there. */
  initial?: AccessToken | null;
  /** Renewed when it has less than this to live: time for the request, and for clocks that differ. */
  spareMs?: number;
}

/** A token that is renewed shortly before it ends and when it is refused, once for all who ask at the same time. */
export function renewingToken({ renew, initial = null, spareMs = 60_000 }: RenewOptions): TokenSource {
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
