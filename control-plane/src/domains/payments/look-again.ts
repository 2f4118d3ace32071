const FIRST_MS = 5000;
const LONGEST_MS = 900_000;

/** When the provider is asked again by itself, should it not tell before. */
export function lookAgainAt(now: Date, looks: number): Date {
  return new Date(now.getTime() + Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(looks, 20)));
}
