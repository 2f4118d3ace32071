/** The keys of an object that has no others than its type says, such as a table of labels. */
export function keysOf<T extends object>(table: T): (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[];
}
