/** Waits, or ends early when the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    if (signal?.aborted) finish();
    else signal?.addEventListener('abort', finish, { once: true });
  });
}

/** Exponential backoff with jitter, so that clients that failed together do not retry together. */
export function backoffMs(attempt: number, maximumMs: number): number {
  return Math.min(maximumMs, 200 * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** The server's Retry-After in milliseconds; null without one. */
export function retryAfterMs(response: Response): number | null {
  const header = response.headers.get('retry-after');
  if (!header) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds) * 1000;
}
