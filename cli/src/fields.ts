/** `--fields id,quote.currency`: of a list, of each of its items. */
export function selectFields(answer: unknown, fields: string[]): unknown {
  if (isRecord(answer) && Array.isArray(answer['items']))
    return { ...answer, items: answer['items'].map((item) => pick(item, fields)) };
  return pick(answer, fields);
}

function pick(thing: unknown, fields: string[]): object {
  return Object.fromEntries(fields.map((field) => [field, valueAt(thing, field)]));
}

export function valueAt(thing: unknown, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>((value, part) => (isRecord(value) ? value[part] : null) ?? null, thing);
}

/** An object whose fields can be looked up, such as an answer of the API. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
