/** `--fields id,quote.currency`: of a list, of each of its items. */
export function select(answer: unknown, fields: string[]): unknown {
  const { items } = (answer ?? {}) as { items?: unknown };
  if (Array.isArray(items)) return { ...(answer as object), items: items.map((item) => pick(item, fields)) };
  return pick(answer, fields);
}

function pick(thing: unknown, fields: string[]): object {
  return Object.fromEntries(fields.map((field) => [field, at(thing, field)]));
}

export function at(thing: unknown, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>((value, part) => (value as Record<string, unknown> | null)?.[part] ?? null, thing);
}
