import fc from 'fast-check';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  allOf?: Schema[];
  oneOf?: Schema[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  properties?: Record<string, Schema>;
  required?: string[];
  minProperties?: number;
  additionalProperties?: boolean | Schema;
  'x-secret'?: boolean;
}

export type Resolve = (schema: Schema) => Schema;

/** Values that a schema of our contract allows. Only the keywords the contract uses are known; others throw. */
export function valuesOf(schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  const known = resolve(schema);
  if (known.const !== undefined) return fc.constant(known.const);
  if (known.enum) return fc.constantFrom(...known.enum);
  if (known.anyOf) return fc.oneof(...known.anyOf.map((option) => valuesOf(option, resolve)));
  const types = [known.type ?? 'object'].flat();
  return fc.oneof(...types.map((type) => valuesOfType(type, known, resolve)));
}

function valuesOfType(type: string, schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 2 ** 31 - 1 });
    case 'number':
      return fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? 2 ** 31, noNaN: true });
    case 'string':
      return texts(schema);
    case 'array':
      return lists(schema, resolve);
    case 'object':
      return records(schema, resolve);
    default:
      throw new Error(`no generator for type ${type}`);
  }
}

function texts(schema: Schema): fc.Arbitrary<string> {
  if (schema.format === 'uuid') return fc.uuid();
  if (schema.format === 'date-time') return instants();
  if (schema.format === 'email') return fc.emailAddress();
  if (schema.format === 'uri') return fc.webUrl();
  const { minLength = 0, maxLength = 100 } = schema;
  const fits = (text: string): boolean => text.length >= minLength && text.length <= maxLength;
  // fast-check cannot generate lookaheads; the one pattern with one is a path.
  if (schema.pattern?.includes('(?!'))
    return fc
      .webPath()
      .map((path) => `/a${path}`)
      .filter(fits);
  if (schema.pattern) {
    return fc.stringMatching(new RegExp(schema.pattern), { maxLength: Math.min(maxLength, 80) }).filter(fits);
  }
  const bounds = { minLength, maxLength: Math.min(maxLength, minLength + 40) };
  // Grapheme strings find what plain ones do not: quotes, NUL, surrogates, right-to-left marks.
  return fc.oneof(fc.string(bounds), fc.string({ ...bounds, unit: 'binary' })).filter(fits);
}

function instants(): fc.Arbitrary<string> {
  const [min, max] = [new Date('2000-01-01T00:00:00Z'), new Date('2100-01-01T00:00:00Z')];
  return fc.date({ min, max, noInvalidDate: true }).map((date) => date.toISOString());
}

function lists(schema: Schema, resolve: Resolve): fc.Arbitrary<unknown[]> {
  const item = valuesOf(schema.items ?? {}, resolve);
  const bounds = { minLength: schema.minItems ?? 0, maxLength: Math.min(schema.maxItems ?? 5, 5) };
  return schema.uniqueItems ? fc.uniqueArray(item, bounds) : fc.array(item, bounds);
}

function records(schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  const { properties = {}, required = [] } = schema;
  const model = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, valuesOf(property, resolve)]),
  );
  return fc
    .record(model, { requiredKeys: required.filter((name) => name in model) })
    .filter((value) => Object.keys(value).length >= (schema.minProperties ?? 0));
}
