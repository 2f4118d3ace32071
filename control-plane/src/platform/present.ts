/** What a rule elsewhere guarantees, such as a constraint of the database; the error names it if the rule was broken. */
export function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`missing: ${what}`);
  return value;
}

/** The entry of a map that was filled for every key asked for. */
export function get<K, V>(map: ReadonlyMap<K, V>, key: K, what: string): V {
  const value = map.get(key);
  if (value === undefined) throw new Error(`missing: ${what} ${String(key)}`);
  return value;
}

/** The first item of a list that is not empty. */
export function first<T>(list: readonly T[], what: string): T {
  const [item] = list;
  if (item === undefined) throw new Error(`missing: ${what}`);
  return item;
}

/** The last item of a list that is not empty. */
export function last<T>(list: readonly T[], what: string): T {
  const item = list.at(-1);
  if (item === undefined) throw new Error(`missing: ${what}`);
  return item;
}
