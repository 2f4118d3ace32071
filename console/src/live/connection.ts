import { useSyncExternalStore } from 'react';

const PROBE = '/healthz';
const PROBE_MS = 2_000;
/** A proxy answers these when the server behind it does not. */
const GATEWAY_FAILURES = new Set([502, 504]);

let answeredAt = Date.now();
let lostAt: number | null = null;
let probing = false;
const listeners = new Set<() => void>();

/** `fetch` that notices whether the server answers. */
export async function watchedFetch(request: RequestInfo | URL): Promise<Response> {
  try {
    const response = await fetch(request);
    if (GATEWAY_FAILURES.has(response.status)) void checkConnection();
    else noteAnswer();
    return response;
  } catch (error) {
    if (!(request instanceof Request && request.signal.aborted)) void checkConnection();
    throw error;
  }
}

/** Asks the server whether it is there, and if not, until it is. */
export async function checkConnection() {
  if (probing) return;
  probing = true;
  while (!(await isAnswering())) {
    setLostAt(lostAt ?? answeredAt);
    await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
  }
  probing = false;
  noteAnswer();
}

async function isAnswering(): Promise<boolean> {
  try {
    const response = await fetch(PROBE, { cache: 'no-store', signal: AbortSignal.timeout(10_000) });
    return !GATEWAY_FAILURES.has(response.status);
  } catch {
    return false;
  }
}

function noteAnswer() {
  answeredAt = Date.now();
  if (!probing) setLostAt(null);
}

function setLostAt(next: number | null) {
  if (next === lostAt) return;
  lostAt = next;
  for (const listener of listeners) listener();
}

/** Time of the server's last answer if it does not answer any more, else null. */
export function useLostAt(): number | null {
  return useSyncExternalStore(subscribe, () => lostAt);
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
