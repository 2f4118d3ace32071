/** The part of a schema of parameters that says which of them exist. */
export interface ParamSchema {
  properties?: Record<string, { 'x-ignorable'?: boolean }>;
}

/** Given parameters that the schema marks with `x-ignorable`. */
export function ignorableNames({ properties = {} }: ParamSchema, params: object): string[] {
  return Object.keys(params).filter((name) => properties[name]?.['x-ignorable'] === true);
}

/** What the schema knows is never left out, so that its rules always apply. */
export function withoutUnknown(
  { properties = {} }: ParamSchema,
  params: object,
  ignorable: readonly string[],
): object {
  return Object.fromEntries(
    Object.entries(params).filter(([name]) => Object.hasOwn(properties, name) || !ignorable.includes(name)),
  );
}
