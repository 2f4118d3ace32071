const FIRST_MS = 5000;
const LONGEST_MS = 900_000;

/** Time of the next poll if no webhook arrives first. */
export function nextPollAt(now: Date, polls: number): Date {
  return new Date(now.getTime() + Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(polls, 20)));
}
