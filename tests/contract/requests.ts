import fc from 'fast-check';
import type { Contract, Operation, Parameter } from './operations.ts';
import { valuesOf, type Schema } from './schema-values.ts';

export interface GeneratedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  payload?: string;
}

export interface MalformedRequest extends GeneratedRequest {
  /** The broken part, for the failure message. */
  defect: string;
}

interface Parts {
  parameters: Record<string, unknown>;
  body: unknown;
}

/** Body of operations that take bytes. */
export const STREAMED_CONTENT = 'a streamed body';

/** Requests that match the contract. `known` gives parameters and fields values that exist, now and then. */
export function validRequests(
  contract: Contract,
  operation: Operation,
  known: Record<string, unknown[]>,
): fc.Arbitrary<GeneratedRequest> {
  return parts(contract, operation, known).map((value) => render(operation, value));
}

/** Valid requests that name existing resources wherever possible, with required fields only. */
export function plainRequests(
  contract: Contract,
  operation: Operation,
  known: Record<string, unknown[]>,
): fc.Arbitrary<GeneratedRequest> {
  const { required = [], minProperties = 0 } = operation.body ? contract.resolve(operation.body) : {};
  const needed = (body: object): object => {
    const spare = Object.keys(body).filter((name) => !required.includes(name));
    const names = [...required, ...spare.slice(0, Math.max(0, minProperties - required.length))];
    return only(body, (name) => names.includes(name));
  };
  return parts(contract, operation, known, pick).map(({ parameters, body }) =>
    render(operation, {
      parameters: only(parameters, (name) =>
        operation.parameters.some((p) => p.name === name && (p.required || p.in === 'path')),
      ),
      body: body === undefined ? undefined : needed(body as object),
    }),
  );
}

function only(record: object, keep: (name: string) => boolean): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => keep(name)));
}

/** Requests with exactly one defect each. */
export function malformedRequests(contract: Contract, operation: Operation): fc.Arbitrary<MalformedRequest> {
  const valid = parts(contract, operation, {});
  const sources: fc.Arbitrary<MalformedRequest>[] = [];
  for (const parameter of operation.parameters) {
    const wrong = wrongTexts(contract.resolve(parameter.schema), parameter.in);
    if (wrong.length > 0) sources.push(brokenParameter(operation, valid, parameter, wrong));
    if (parameter.in === 'query' && parameter.required) {
      sources.push(
        valid.map((value) => ({
          ...render(operation, {
            ...value,
            parameters: { ...value.parameters, [parameter.name]: undefined },
          }),
          defect: `no ${parameter.name}`,
        })),
      );
    }
  }
  if (operation.body) {
    const schema = contract.resolve(operation.body);
    sources.push(brokenField(contract, operation, valid, schema), unreadableBody(operation, valid));
  } else if (operation.method !== 'GET') {
    sources.push(unexpectedBody(operation, valid));
  }
  if (!operation.public) sources.push(unknownQuery(operation, valid));
  return fc.oneof(...sources);
}

function parts(
  contract: Contract,
  operation: Operation,
  known: Record<string, unknown[]>,
  choose = sometimes,
): fc.Arbitrary<Parts> {
  const fixed = operation.parameters.filter((p) => p.required || p.in === 'path').map((p) => p.name);
  const parameters = fc.record(
    Object.fromEntries(
      operation.parameters.map((parameter) => [
        parameter.name,
        choose(known[parameter.name], valuesOf(parameter.schema, contract.resolve)),
      ]),
    ),
    { requiredKeys: fixed },
  );
  if (!operation.body) return parameters.map((value) => ({ parameters: value, body: undefined }));
  const body = valuesOf(operation.body, contract.resolve).chain((value) =>
    fc.record(
      Object.fromEntries(
        Object.entries(value as object).map(([name, field]) => [
          name,
          choose(known[name], fc.constant(field)),
        ]),
      ),
    ),
  );
  return fc.record({ parameters, body });
}

function sometimes(known: unknown[] | undefined, otherwise: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return known && known.length > 0 ? fc.oneof(fc.constantFrom(...known), otherwise) : otherwise;
}

function pick(known: unknown[] | undefined, otherwise: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return known && known.length > 0 ? fc.constantFrom(...known) : otherwise;
}

function render(operation: Operation, value: Parts): GeneratedRequest {
  const headers: Record<string, string> = {};
  const query = new URLSearchParams();
  let path = operation.path;
  for (const parameter of operation.parameters) {
    const given = value.parameters[parameter.name] as string | number | undefined;
    if (given === undefined) continue;
    if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, pathSegment(String(given)));
    else if (parameter.in === 'query') query.set(parameter.name, String(given));
    else headers[parameter.name.toLowerCase()] = String(given);
  }
  const request: GeneratedRequest = {
    method: operation.method,
    url: query.size > 0 ? `${path}?${query}` : path,
    headers,
  };
  if (operation.streamed && value.body === undefined) {
    headers['content-type'] = 'application/octet-stream';
    return { ...request, payload: STREAMED_CONTENT };
  }
  if (value.body === undefined) return request;
  headers['content-type'] = 'application/json';
  return { ...request, payload: JSON.stringify(value.body) };
}

/** Dot segments would name another path; lone surrogates have no place in a URL. */
function pathSegment(text: string): string {
  const encoded = encodeURIComponent(text.toWellFormed());
  return /^\.{1,2}$/.test(encoded) ? '%20' : encoded;
}

/** Text that a parameter of this schema must refuse. */
function wrongTexts(schema: Schema, place: Parameter['in']): string[] {
  const wrong: string[] = [];
  if (schema.format === 'uuid')
    wrong.push('x', '0', '12345678-1234-1234-1234-12345678901g', `'; drop table users; --`);
  if (schema.type === 'integer') wrong.push('abc', '1.5', 'NaN', '1e999', 'true', '0x');
  if (schema.type === 'integer' && schema.maximum !== undefined) wrong.push(String(schema.maximum + 1));
  if (schema.type === 'integer' && schema.minimum !== undefined) wrong.push(String(schema.minimum - 1));
  if (schema.enum) wrong.push('no_such_value', '0');
  if (schema.type === 'string' && schema.maxLength !== undefined)
    wrong.push('a'.repeat(schema.maxLength + 1));
  if (schema.type === 'string' && (schema.minLength ?? 0) > 1) wrong.push('a');
  if (schema.pattern) wrong.push('!$%', 'a|b');
  if (place !== 'header' && schema.type === 'string' && !schema.pattern) wrong.push('a\0b');
  return wrong.filter(
    (text) =>
      !schema.pattern || !new RegExp(schema.pattern).test(text) || text.length > (schema.maxLength ?? 1e9),
  );
}

function brokenParameter(
  operation: Operation,
  valid: fc.Arbitrary<Parts>,
  parameter: Parameter,
  wrong: string[],
): fc.Arbitrary<MalformedRequest> {
  return fc.tuple(valid, fc.constantFrom(...wrong)).map(([value, text]) => ({
    ...render(operation, { ...value, parameters: { ...value.parameters, [parameter.name]: text } }),
    defect: `${parameter.name} is ${JSON.stringify(text.slice(0, 40))}`,
  }));
}

function brokenField(
  contract: Contract,
  operation: Operation,
  valid: fc.Arbitrary<Parts>,
  schema: Schema,
): fc.Arbitrary<MalformedRequest> {
  const { properties = {}, required = [] } = schema;
  const defects: { defect: string; apply(body: Record<string, unknown>): unknown }[] = [
    { defect: 'an unknown field', apply: (body) => ({ ...body, no_such_field: 1 }) },
    { defect: 'a long unknown field', apply: (body) => ({ ...body, ['x'.repeat(2000)]: 1 }) },
    {
      defect: 'many unknown fields',
      apply: (body) => ({
        ...body,
        ...Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`x${n}`, n])),
      }),
    },
    {
      defect: 'an own __proto__',
      apply: (body) =>
        JSON.parse(`{"__proto__":{"a":1},${JSON.stringify(body).slice(1)}`.replace(',}', '}')) as unknown,
    },
    ...[null, [], 'text', 7, true].map((other) => ({
      defect: `a body that is ${JSON.stringify(other)}`,
      apply: () => other,
    })),
    ...required.map((name) => ({
      defect: `no ${name}`,
      apply: (body: Record<string, unknown>) =>
        Object.fromEntries(Object.entries(body).filter(([key]) => key !== name)),
    })),
    ...Object.entries(properties).flatMap(([name, property]) =>
      wrongValues(contract, contract.resolve(property)).map((wrong) => ({
        defect: `${name} is ${JSON.stringify(wrong)?.slice(0, 60)}`,
        apply: (body: Record<string, unknown>) => ({ ...body, [name]: wrong }),
      })),
    ),
  ];
  return fc.tuple(valid, fc.constantFrom(...defects)).map(([value, { defect, apply }]) => ({
    ...render(operation, { ...value, body: apply(value.body as Record<string, unknown>) }),
    defect,
  }));
}

/** JSON that a field of this schema must refuse, number-like text for numbers among it. */
function wrongValues(contract: Contract, schema: Schema): unknown[] {
  const types = [schema.type ?? []].flat();
  const wrong: unknown[] = [];
  if (!types.includes('null') && !schema.anyOf) wrong.push(null);
  if (types.includes('string') || schema.enum) wrong.push(5, ['a'], { a: 1 }, false);
  if (types.includes('string') && schema.maxLength !== undefined)
    wrong.push('a'.repeat(schema.maxLength + 1));
  if (types.includes('string') && (schema.minLength ?? 0) > 0) wrong.push('');
  if (types.includes('string') && schema.pattern) wrong.push('\n', '!!');
  if (types.includes('string') && !schema.format) wrong.push(`${'a'.repeat(schema.minLength ?? 1)}\0`);
  if (schema.format) wrong.push('not one', '2026-13-45T99:99:99Z');
  if (schema.enum) wrong.push('no_such_value');
  if (types.includes('integer')) wrong.push('1', 1.5, true, [1]);
  if (types.includes('integer') && schema.minimum !== undefined) wrong.push(schema.minimum - 1);
  if (types.includes('integer') && schema.maximum !== undefined) wrong.push(schema.maximum + 1, 1e21);
  if (types.includes('boolean')) wrong.push('true', 1, 'yes');
  if (types.includes('array')) wrong.push('a', {}, 1);
  if (types.includes('array') && schema.items) {
    const item = contract.resolve(schema.items);
    wrong.push(...wrongValues(contract, item).map((value) => [value]));
    if (schema.uniqueItems) wrong.push([1, 1]);
    if (schema.maxItems !== undefined)
      wrong.push(Array.from({ length: schema.maxItems + 1 }, (_, index) => index));
  }
  if (types.includes('object')) {
    wrong.push('a', [], 3);
    if (schema.additionalProperties === false) wrong.push({ no_such_field: 1 });
  }
  return wrong;
}

function unreadableBody(operation: Operation, valid: fc.Arbitrary<Parts>): fc.Arbitrary<MalformedRequest> {
  const defects: [string, string | undefined, string | undefined][] = [
    ['no body', undefined, undefined],
    ['an empty body', 'application/json', ''],
    ['cut JSON', 'application/json', '{"a":'],
    ['two JSON values', 'application/json', '{} {}'],
    ['a form', 'application/x-www-form-urlencoded', 'a=1'],
    ['plain text', 'text/plain', '{}'],
    ['JSON called text', 'text/plain', '{"sku":"a"}'],
    ['XML', 'application/xml', '<a/>'],
    ['no media type', undefined, '{}'],
    ['a nonsense media type', 'nonsense', '{}'],
    ['a huge body', 'application/json', `{"a":"${'a'.repeat(300_000)}"}`],
    ['deep nesting', 'application/json', `${'['.repeat(5000)}${']'.repeat(5000)}`],
    ['bytes that are not UTF-8', 'application/json', '{"a":"\u00ff\ud800"}'],
  ];
  return fc.tuple(valid, fc.constantFrom(...defects)).map(([value, [defect, type, payload]]) => {
    const request = render(operation, { ...value, body: undefined });
    if (type !== undefined) request.headers['content-type'] = type;
    return { ...request, ...(payload === undefined ? {} : { payload }), defect };
  });
}

function unexpectedBody(operation: Operation, valid: fc.Arbitrary<Parts>): fc.Arbitrary<MalformedRequest> {
  return fc.tuple(valid, fc.constantFrom<unknown>({ a: 1 }, [], 'text', 1)).map(([value, body]) => ({
    ...render(operation, { ...value, body }),
    defect: 'a body nobody asked for',
  }));
}

function unknownQuery(operation: Operation, valid: fc.Arbitrary<Parts>): fc.Arbitrary<MalformedRequest> {
  return valid.map((value) => {
    const request = render(operation, value);
    return {
      ...request,
      url: `${request.url}${request.url.includes('?') ? '&' : '?'}no_such_query=1`,
      defect: 'an unknown query parameter',
    };
  });
}
