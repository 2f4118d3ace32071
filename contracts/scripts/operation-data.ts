import type { Operation, OperationField } from '../src/operations.ts';

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  description?: string;
  /** Long enough that people pass it as a file. */
  'x-from-file'?: boolean;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface Reference {
  $ref: string;
}

interface Content {
  content?: Record<string, { schema: Schema }>;
}

interface Described {
  operationId: string;
  summary: string;
  parameters?: (Parameter | Reference)[];
  requestBody?: Content | Reference;
  responses: Record<string, Content | Reference>;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const IF_MATCH = 'if-match';

/** The operations of a bundled contract as `Operation`s: everything a program needs to offer them. */
export function operationData(bundle: string, header: string): string {
  const document: {
    info: { version: string };
    paths: Record<string, Record<string, Described>>;
  } = JSON.parse(bundle);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => method in methods).map((method) =>
      describe(document, method, path, methods[method]!),
    ),
  );
  return [
    header,
    "import type { Operation } from '../src/operations.ts';\n\n",
    `/** The release of the contract that these are of. */\nexport const contractVersion = '${document.info.version}';\n\n`,
    `export const operations: readonly Operation[] = ${JSON.stringify(operations, null, 2)};\n`,
  ].join('');
}

function describe(document: object, method: Operation['method'], path: string, source: Described): Operation {
  const parameters = (source.parameters ?? []).map((one) => resolve(document, one));
  const answer = answerOf(document, source.responses);
  const item = answer.page && plain(document, answer.page);
  const accepted = acceptedOf(document, source.responses);
  return {
    id: source.operationId,
    method,
    path,
    summary: source.summary,
    fields: [
      ...parameters
        .filter((one) => one.in === 'path' || one.in === 'query')
        .map((one) => field(document, one.in as 'path' | 'query', one.name, one.schema, one)),
      ...bodyFields(document, source.requestBody),
    ],
    ...(parameters.some((one) => one.name.toLowerCase() === IF_MATCH) && { ifMatch: true as const }),
    ...(parameters.some((one) => one.name === 'page') && { paged: true as const }),
    ...(answer.kind && { answer: answer.kind }),
    ...(accepted !== undefined && { accepted }),
    ...(item && {
      columns: Object.entries(item.properties)
        .filter(([, schema]) => isShown(plain(document, schema).type))
        .map(([name]) => name),
    }),
  };
}

function bodyFields(document: object, body: Content | Reference | undefined): OperationField[] {
  if (!body) return [];
  const schema = resolve(document, body).content?.['application/json']?.schema;
  if (!schema) return [];
  const { properties, required } = plain(document, schema);
  return Object.entries(properties).map(([name, property]) =>
    field(document, 'body', name, property, { required: required.has(name) }),
  );
}

function field(
  document: object,
  place: OperationField['in'],
  name: string,
  schema: Schema,
  { required, description }: { required?: boolean; description?: string },
): OperationField {
  const { type, choices, description: own } = plain(document, schema);
  const words = description ?? own;
  return {
    name,
    in: place,
    type,
    ...(required && { required: true as const }),
    ...(choices.length > 0 && { choices }),
    ...(words && { description: firstSentence(words) }),
    ...(resolve(document, schema)['x-from-file'] && { fromFile: true as const }),
  };
}

interface Plain {
  type: OperationField['type'];
  choices: string[];
  description: string | undefined;
  properties: Record<string, Schema>;
  required: Set<string>;
}

/** A schema without its indirections; of alternatives, every property that one of them has. */
function plain(document: object, source: Schema): Plain {
  const schema = resolve(document, source);
  const alternatives = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]
    .map((one) => plain(document, one))
    .filter((one) => one.type !== 'json' || Object.keys(one.properties).length > 0);
  const parts = (schema.allOf ?? []).map((one) => plain(document, one));
  const own = schema.type === undefined ? undefined : typeOf(document, schema);
  const types = new Set([...alternatives, ...parts].map((one) => one.type));
  return {
    type: isMoney(schema) ? 'money' : (own ?? (schema.enum || schema.const ? 'string' : oneType(types))),
    choices: [
      ...(schema.enum ?? []).filter((one) => typeof one === 'string'),
      ...[...alternatives, ...parts].flatMap((one) => one.choices),
    ],
    description: source.description ?? schema.description ?? parts[0]?.description,
    properties: Object.assign(
      {},
      ...[...alternatives, ...parts].map((one) => one.properties),
      schema.properties,
    ) as Record<string, Schema>,
    required: new Set([...(schema.required ?? []), ...parts.flatMap((one) => [...one.required])]),
  };
}

function oneType(types: Set<OperationField['type']>): OperationField['type'] {
  if (types.size === 1) return [...types][0]!;
  return types.has('string') ? 'value' : 'json';
}

function isMoney({ properties = {} }: Schema): boolean {
  return Object.keys(properties).toSorted().join() === 'currency,micros';
}

function typeOf(document: object, schema: Schema): OperationField['type'] {
  const types = [schema.type!].flat().filter((one) => one !== 'null');
  if (types.length !== 1) return 'json';
  const [type] = types as [string];
  if (type === 'array') {
    const item = schema.items && plain(document, schema.items).type;
    return item === 'string' || item === 'integer' ? `${item}s` : 'json';
  }
  return isPlain(type) ? type : 'json';
}

function isPlain(type: string): type is 'string' | 'integer' | 'number' | 'boolean' {
  return ['string', 'integer', 'number', 'boolean'].includes(type);
}

/** A table has room for it. */
function isShown(type: string): boolean {
  return isPlain(type) || type === 'money' || type === 'value';
}

function answerOf(
  document: object,
  responses: Described['responses'],
): { kind?: Operation['answer']; page?: Schema } {
  const code = Object.keys(responses).find((one) => one.startsWith('2'));
  if (code === undefined) return {};
  const { content = {} } = resolve(document, responses[code]!);
  const [media] = Object.keys(content);
  if (media === undefined) return {};
  if (media === 'text/event-stream') return { kind: 'stream' };
  if (media !== 'application/json') return { kind: 'text' };
  const { items } = plain(document, content[media]!.schema).properties;
  const item = items && resolve(document, items).items;
  return { kind: 'json', ...(item && { page: item }) };
}

function acceptedOf(document: object, responses: Described['responses']): string | undefined {
  const answer = responses['202'] && resolve(document, responses['202']);
  if (!answer) return undefined;
  const schema = answer.content?.['application/json']?.schema;
  // The name of the schema is how a program finds out how to wait for the end of the work.
  if (!schema?.$ref) throw new Error(`a 202 must name the schema of its answer: ${JSON.stringify(answer)}`);
  return schema.$ref.split('/').at(-1);
}

/** The target of a reference; any other value is returned unchanged. */
function resolve<T extends object>(document: object, value: T | Reference): T {
  if (!('$ref' in value) || value.$ref === undefined) return value as T;
  const found = value.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], document);
  return resolve(document, found as T);
}

function firstSentence(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  return /^.*?[.;](?= |$)/.exec(flat)?.[0].slice(0, -1) ?? flat;
}
