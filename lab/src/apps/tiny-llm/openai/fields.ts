import { AppRefusal } from '../../web/app-refusal.ts';

type Fields = Readonly<Record<string, unknown>>;

export function invalid(param: string, message: string, code = 'invalid_value'): AppRefusal {
  return new AppRefusal(400, code, message, param);
}

export function numberField(
  fields: Fields,
  name: string,
  range: { least: number; most: number; otherwise: number; whole?: boolean },
): number {
  const value = fields[name] ?? range.otherwise;
  const { least, most, whole } = range;
  if (typeof value !== 'number' || value < least || value > most || (whole && !Number.isInteger(value)))
    throw invalid(name, `'${name}' must be a ${whole ? 'whole ' : ''}number from ${least} to ${most}.`);
  return value;
}

export function booleanField(fields: Fields, name: string): boolean {
  const value = fields[name] ?? false;
  if (typeof value !== 'boolean') throw invalid(name, `'${name}' must be true or false.`, 'invalid_type');
  return value;
}

/** One string or up to four. */
export function stopField(fields: Fields): string[] {
  const value = fields['stop'] ?? [];
  const stops: unknown[] = Array.isArray(value) ? value : [value];
  if (stops.length > 4) throw invalid('stop', "'stop' has more than 4 sequences.", 'array_above_max_length');
  return stops.map((stop) => {
    if (typeof stop !== 'string' || stop === '' || stop.length > 500)
      throw invalid('stop', "'stop' must be a string of 1 to 500 characters, or a list of such strings.");
    return stop;
  });
}

/** Refuses what would silently be ignored. */
export function refuseUnsupported(fields: Fields, names: readonly string[]): void {
  for (const name of names) {
    const value = fields[name];
    if (value === undefined || value === null || value === false) continue;
    throw invalid(name, `This model does not support '${name}'.`, 'unsupported_parameter');
  }
}
