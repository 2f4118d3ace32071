const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Seconds to wait after the first, second … failed attempt, as Standard Webhooks recommends: three days in all. */
export const RETRY_SECONDS = [
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

const JITTER = 0.1;

/** Seconds until the next attempt after `attempts` failures; null after the last attempt. */
export function retryDelay(
  attempts: number,
  maxAttempts: number,
  random: () => number = Math.random,
): number | null {
  const seconds = RETRY_SECONDS[attempts - 1];
  if (attempts >= maxAttempts || seconds === undefined) return null;
  // Jitter, so that an endpoint that comes back does not get everything in one second.
  return seconds * (1 + JITTER * (2 * random() - 1));
}
