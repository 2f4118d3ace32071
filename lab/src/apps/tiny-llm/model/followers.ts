/** Tokens that were seen after a context, with their counts. */
export interface Followers {
  tokens: readonly number[];
  counts: readonly number[];
}

/** Followers by context, for contexts of one length. */
export type ContextTable = Map<string, Followers>;

/** Amounts taken from counts of 1, of 2 and of 3 or more, and given to shorter contexts. */
export type Discounts = readonly [one: number, two: number, more: number];

export interface ModelTables {
  /** By length of the context, shortest first. */
  tables: readonly ContextTable[];
  discounts: readonly Discounts[];
}

/** A context as a key: token numbers are below 65,536. */
export function contextKey(tokens: readonly number[]): string {
  return String.fromCharCode(...tokens);
}

export function tokensOfKey(key: string): number[] {
  return Array.from(key, (_, index) => key.charCodeAt(index));
}
