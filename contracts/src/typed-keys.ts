/** The keys of an object that has no others than its type says, such as a table of constants. */
export function keysOf<T extends object>(table: T): (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[];
}

/** Keys and values of such an object. */
export function entriesOf<T extends object>(
  table: T,
): { [K in keyof T & string]-?: [K, NonNullable<T[K]>] }[keyof T & string][] {
  return Object.entries(table) as never;
}

/** Whether a foreign text is one of the keys. */
export function isKeyOf<T extends object>(table: T, key: PropertyKey): key is keyof T & string {
  return Object.hasOwn(table, key);
}
