import nodeContract from '@gpuaas/contracts/generated/node-openapi.json' with { type: 'json' };
import publicContract from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import { describe, expect, it } from 'vitest';
import {
  follow,
  operationsOf,
  schemasBelow,
  type Document,
  type Place,
  type Schema,
} from './contract-document.ts';

const documents: [string, Document][] = [
  ['openapi.json', publicContract as unknown as Document],
  ['node-openapi.json', nodeContract as unknown as Document],
];

/** What differs on purpose. */
const withoutIdempotencyKey: Record<string, string> = {
  createTerminalToken: 'a token is single-use and never stored, so there is nothing to replay',
};
const changingNothing: Record<string, string> = {
  explainPlacement: 'a dry run; it is a POST for the sake of its body',
};
const openBodies: Record<string, string> = {
  'schemas/TaskOutcome/output': 'checked against the output schema of the task kind instead',
  'receiveStripeEvent/request':
    'Stripe decides what is in it; of all of it we keep which payment it is about',
};

describe.each(documents)('limits in %s', (_name, document) => {
  const seen = new Set<string>();
  const everything: Place[] = operationsOf(document).flatMap(({ operation }) => [
    ...(operation.parameters ?? [])
      .map((parameter) => follow(document, parameter))
      .flatMap((parameter) =>
        schemasBelow(document, parameter.schema ?? {}, `${operation.operationId}/${parameter.name}`, seen),
      ),
    ...bodiesOf(operation.requestBody).flatMap((schema) =>
      schemasBelow(document, schema, `${operation.operationId}/request`, seen),
    ),
    ...Object.entries(operation.responses).flatMap(([status, response]) =>
      bodiesOf(follow(document, response)).flatMap((schema) =>
        schemasBelow(document, schema, `${operation.operationId}/${status}`, seen),
      ),
    ),
  ]);

  it('stand on every string', () => {
    expect(unbounded(everything, 'string', endsSomewhere)).toEqual([]);
  });

  it('stand on every array', () => {
    expect(unbounded(everything, 'array', (schema) => 'maxItems' in schema)).toEqual([]);
  });

  it('stand on every body', () => {
    const limits = [document, ...operationsOf(document).map(({ operation }) => operation)]
      .map((part) => part['x-max-body-bytes'])
      .filter((bytes) => bytes !== undefined);
    expect(document['x-max-body-bytes']).toBeTypeOf('number');
    expect(limits.filter((bytes) => !Number.isInteger(bytes) || bytes < 1 || bytes > 1024 * 1024)).toEqual(
      [],
    );
  });

  it('refuse unknown fields in every request body', () => {
    const bodies = operationsOf(document).flatMap(({ operation }) =>
      bodiesOf(operation.requestBody).flatMap((schema) =>
        schemasBelow(document, schema, `${operation.operationId}/request`, new Set()),
      ),
    );
    const open = bodies
      .filter(({ schema }) => isType(schema, 'object') || schema.properties)
      .filter(({ schema }) => schema.additionalProperties !== false && schema.unevaluatedProperties !== false)
      .map(({ where }) => where);
    expect([...new Set(open)].filter((where) => !(where in openBodies))).toEqual([]);
  });

  it('leave room for a refusal in every operation', () => {
    const silent = operationsOf(document)
      .map(({ operation }) => operation)
      .filter(({ responses }) => !Object.keys(responses).some((status) => status.startsWith('4')));
    expect(silent.map(({ operationId }) => operationId)).toEqual([]);
  });
});

describe('mutations under /api/v1', () => {
  const document = publicContract as unknown as Document;
  const mutations = operationsOf(document).filter(
    ({ method, path, operation }) =>
      method !== 'get' && path.startsWith('/api/v1/') && !(operation.operationId in changingNothing),
  );
  const missing = (holds: (id: (typeof mutations)[number]) => boolean): string[] =>
    mutations.filter((mutation) => !holds(mutation)).map(({ operation }) => operation.operationId);

  it('name the permission they need and the action they audit', () => {
    expect(missing(({ operation }) => operation['x-permission'] !== undefined)).toEqual([]);
    expect(missing(({ operation }) => operation['x-audit'] !== undefined)).toEqual([]);
  });

  it('take an idempotency key', () => {
    const without = missing(({ operation }) =>
      (operation.parameters ?? []).some(
        (parameter) => follow(document, parameter).name === 'X-Idempotency-Key',
      ),
    );
    expect(without).toEqual(Object.keys(withoutIdempotencyKey));
  });
});

/** JSON alone: a page, a metrics text or an endless stream has no length to declare. */
function bodiesOf(part: { content?: Record<string, { schema?: Schema }> } | undefined): Schema[] {
  return Object.entries(part?.content ?? {})
    .filter(([mediaType]) => /\bjson$/.test(mediaType))
    .flatMap(([, { schema }]) => (schema ? [schema] : []));
}

function isType(schema: Schema, type: string): boolean {
  return Array.isArray(schema.type) ? schema.type.includes(type) : schema.type === type;
}

/** By a length, by its values, or by a form that has one: a pattern that may go on for ever is no limit. */
function endsSomewhere({ format, pattern, ...schema }: Schema): boolean {
  if (['maxLength', 'enum', 'const'].some((bound) => bound in schema) || format === 'uuid') return true;
  return typeof pattern === 'string' && /^\^.*\$$/.test(pattern) && !/[*+]|,\}/.test(pattern);
}

function unbounded(places: Place[], type: string, isBounded: (schema: Schema) => boolean): string[] {
  return places.filter(({ schema }) => isType(schema, type) && !isBounded(schema)).map(({ where }) => where);
}
