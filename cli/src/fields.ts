import { UsageError } from './usage-error.ts';

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

/** Refuses names that the answer does not have; of an empty list nothing is known. */
export function requireFields(answer: unknown, fields: string[]): void {
  const items = isRecord(answer) ? answer['items'] : undefined;
  const things: unknown[] = Array.isArray(items) ? items : [answer];
  if (things.length === 0) return;
  const unknown = fields.filter((field) => !things.some((thing) => hasField(thing, field)));
  if (unknown.length === 0) return;
  const known = [...new Set(things.flatMap((thing) => (isRecord(thing) ? Object.keys(thing) : [])))];
  throw new UsageError(`No field ${unknown.join(', ')}; available: ${known.join(', ')}`);
}

/** Something that is null now may have the field another time. */
function hasField(thing: unknown, field: string): boolean {
  let value = thing;
  for (const part of field.split('.')) {
    if (value === null) return true;
    if (!isRecord(value) || !(part in value)) return false;
    value = value[part];
  }
  return true;
}
