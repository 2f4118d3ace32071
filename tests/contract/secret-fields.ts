import type { Contract, Operation } from './operations.ts';
import type { Schema } from './schema-values.ts';

/** A field or parameter by the place a reader finds it in. */
export interface NamedField {
  where: string;
  schema: Schema;
}

export interface FoundSecret {
  where: string;
  value: string;
}

const SOUNDS_SECRET =
  /(^|_)(tokens?|secrets?|passwords?|passphrase|private_key|private_key_pem|user_data|code|verifier|credentials?|csrf|(?<!public_)keys?)$/i;

/** True for text whose name suggests a secret. */
export function soundsSecret({ where, schema }: NamedField): boolean {
  const types = [schema.type ?? []].flat();
  return SOUNDS_SECRET.test(where.split('/').at(-1)!) && types.includes('string') && !schema.enum;
}

/** Every named field below a schema, each component once. */
export function fieldsBelow(
  resolve: Contract['resolve'],
  schema: Schema,
  where: string,
  seen = new Set<string>(),
): NamedField[] {
  if (schema.$ref) {
    if (seen.has(schema.$ref)) return [];
    seen.add(schema.$ref);
    return fieldsBelow(resolve, resolve(schema), schema.$ref.replace('#/components/', ''), seen);
  }
  const rest = schema.additionalProperties;
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
      { where: `${where}/${name}`, schema: resolve(field) },
      ...fieldsBelow(resolve, field, `${where}/${name}`, seen),
    ]),
    ...(schema.items ? fieldsBelow(resolve, schema.items, `${where}/items`, seen) : []),
    ...[schema.anyOf, schema.allOf, schema.oneOf].flatMap((options) =>
      (options ?? []).flatMap((option) => fieldsBelow(resolve, option, where, seen)),
    ),
    ...(typeof rest === 'object' ? fieldsBelow(resolve, rest, `${where}/*`, seen) : []),
  ];
}

/** Parameters, request and answers of an operation, as named fields. */
export function fieldsOf(
  contract: Contract,
  operation: Operation,
): Record<'request' | 'response', NamedField[]> {
  const { id, parameters, body, responses } = operation;
  return {
    request: [
      ...parameters.map(({ name, schema }) => ({
        where: `${id}/${name}`,
        schema: contract.resolve(schema),
      })),
      ...(body ? fieldsBelow(contract.resolve, body, `${id}/request`) : []),
    ],
    response: Object.entries(responses).flatMap(([status, { content }]) =>
      Object.values(content ?? {}).flatMap(({ schema }) =>
        schema ? fieldsBelow(contract.resolve, schema, `${id}/${status}`) : [],
      ),
    ),
  };
}

/** The marked values inside an answer or a request. */
export function secretsIn(contract: Contract, schema: Schema, value: unknown, where: string): FoundSecret[] {
  const known = contract.resolve(schema);
  const place = schema.$ref?.replace('#/components/', '') ?? where;
  if (typeof value === 'string') return known['x-secret'] ? [{ where, value }] : [];
  if (Array.isArray(value)) {
    return value.flatMap((item) => secretsIn(contract, known.items ?? {}, item, `${place}/items`));
  }
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const options = [known, ...(known.anyOf ?? []), ...(known.allOf ?? []), ...(known.oneOf ?? [])];
    const property = options.map((option) => contract.resolve(option).properties?.[name]).find(Boolean);
    return property ? secretsIn(contract, property, field, `${place}/${name}`) : [];
  });
}
