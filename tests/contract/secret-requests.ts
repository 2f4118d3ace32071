import fc from 'fast-check';
import type { Contract, Operation } from './operations.ts';
import { plainRequests, type GeneratedRequest } from './requests.ts';
import { valuesOf, type Schema } from './schema-values.ts';

export type Plant = (where: string, secret: string) => string;

/**
 * The ways an operation's marked fields can arrive: in a valid request, in one with an unknown field, in one
 * that is cut short, and mistakenly in a header. Empty where nothing is marked.
 */
export function requestsWithSecrets(
  contract: Contract,
  operation: Operation,
  known: Record<string, unknown[]>,
  plant: Plant,
): GeneratedRequest[] {
  const marked = operation.parameters.filter(({ schema }) => contract.resolve(schema)['x-secret']);
  const body = operation.body ? contract.resolve(operation.body) : null;
  const hasMarked = body && markedProperties(contract, body).length > 0;
  if (marked.length === 0 && !hasMarked) return [];
  const [base] = fc.sample(plainRequests(contract, operation, known), { seed: 1, numRuns: 1 });
  const query = new URLSearchParams(base!.url.split('?')[1] ?? '');
  let path = base!.url.split('?')[0]!;
  const headers = { ...base!.headers };
  for (const { name, in: place, schema } of marked) {
    const secret = plant(`${operation.id}/${name}`, canaryFor(contract.resolve(schema)));
    if (place === 'query') query.set(name, secret);
    else if (place === 'header') headers[name.toLowerCase()] = secret;
    else path = operation.path.replace(`{${name}}`, encodeURIComponent(secret));
  }
  const right: GeneratedRequest = { ...base!, headers, url: query.size > 0 ? `${path}?${query}` : path };
  if (!hasMarked) return [right, { ...right, url: `${path}?${query}&no_such_query=1` }];
  const filled = fill(
    contract,
    operation.body!,
    JSON.parse(base!.payload!),
    `${operation.id}/request`,
    plant,
  );
  const payload = JSON.stringify(filled);
  return [
    { ...right, payload },
    { ...right, payload: JSON.stringify({ ...(filled as object), no_such_field: 1 }) },
    { ...right, payload: payload.slice(0, -1) },
  ];
}

function markedProperties(contract: Contract, schema: Schema): string[] {
  return Object.entries(schema.properties ?? {})
    .filter(([, property]) => {
      const known = contract.resolve(property);
      return known['x-secret'] ?? markedProperties(contract, known).length > 0;
    })
    .map(([name]) => name);
}

/** The value with a canary in every marked field, those it had left out included. */
function fill(contract: Contract, schema: Schema, value: unknown, where: string, plant: Plant): unknown {
  const known = contract.resolve(schema);
  const place = schema.$ref?.replace('#/components/', '') ?? where;
  if (known['x-secret']) return plant(where, canaryFor(known));
  const marked = markedProperties(contract, known);
  if (marked.length === 0) return value;
  const record = (value ?? {}) as Record<string, unknown>;
  const planted = marked.map((name) => [
    name,
    fill(contract, known.properties![name]!, record[name], `${place}/${name}`, plant),
  ]);
  return { ...record, ...Object.fromEntries(planted) };
}

let count = 0;

/** Text that nothing else contains and no value pattern knows; where a pattern asks for more, text of that pattern. */
function canaryFor(schema: Schema): string {
  count += 1;
  const plain = `canary-${count}-${crypto.randomUUID()}`.padEnd(schema.minLength ?? 0, 'x');
  const fits = !schema.pattern || new RegExp(schema.pattern).test(plain);
  if (fits && plain.length <= (schema.maxLength ?? Infinity)) return plain;
  return String(
    fc.sample(
      valuesOf(schema, (value) => value),
      { numRuns: 1 },
    )[0],
  );
}
