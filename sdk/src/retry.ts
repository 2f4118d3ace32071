import { backoffMs, sleep, retryAfterMs } from './sleep.ts';

export interface RetryPolicy {
  /** How often a request is sent in all; 1 turns retries off. */
  attempts: number;
  /** The longest wait between two attempts, whatever the server asks for. */
  maximumWaitMs: number;
}

export const defaultRetryPolicy: RetryPolicy = { attempts: 5, maximumWaitMs: 30_000 };

type Fetch = (request: Request) => Promise<Response>;

const RETRIED = new Set([429, 502, 503, 504]);
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Its 503 is the answer, not a failure. */
const READINESS = '/readyz';

/**
 * Repeats a request after a lost response or a transient failure. The request stays the same, idempotency key
 * included, so the server does the work once; a mutation without a key is sent once.
 */
export function retryingFetch(send: Fetch, policy: RetryPolicy): Fetch {
  return async (request) => {
    if (!mayRepeat(request)) return await send(request);
    for (let attempt = 1; ; attempt += 1) {
      const last = attempt >= policy.attempts;
      let wait = backoffMs(attempt, policy.maximumWaitMs);
      try {
        const response = await send(last ? request : request.clone());
        if (last || !(await passes(response))) return response;
        wait = Math.min(retryAfterMs(response) ?? wait, policy.maximumWaitMs);
        await response.body?.cancel();
      } catch (error) {
        if (last || request.signal.aborted) throw error;
      }
      await sleep(wait, request.signal);
      request.signal.throwIfAborted();
    }
  };
}

async function passes(response: Response): Promise<boolean> {
  return RETRIED.has(response.status) || (response.status === 409 && (await isInProgress(response)));
}

/** The first request with this key is still running; a retry gets its result. */
async function isInProgress(response: Response): Promise<boolean> {
  try {
    const problem: unknown = await response.clone().json();
    return (
      typeof problem === 'object' &&
      problem !== null &&
      'code' in problem &&
      problem.code === 'idempotency_in_progress'
    );
  } catch {
    return false;
  }
}

function mayRepeat(request: Request): boolean {
  if (new URL(request.url).pathname === READINESS) return false;
  return SAFE.has(request.method) || request.headers.has('x-idempotency-key');
}
