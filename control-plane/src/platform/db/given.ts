/** For `$call`: adds the condition of an optional filter. Null is a value, so that it never means "every row". */
export function given<Value, Query>(
  value: Value | undefined,
  add: (query: Query, value: Value) => Query,
): (query: Query) => Query {
  return (query) => (value === undefined ? query : add(query, value));
}

/** For `$call`: continues a list behind its cursor; the first page has none. */
export function fromCursor<Cursor, Query>(
  cursor: Cursor | null,
  add: (query: Query, cursor: Cursor) => Query,
): (query: Query) => Query {
  return (query) => (cursor === null ? query : add(query, cursor));
}
