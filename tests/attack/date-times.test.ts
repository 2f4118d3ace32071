import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import nodeDocument from '@gpuaas/contracts/generated/node-openapi.json' with { type: 'json' };
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallers, keyOfHolder, type RoleCaller } from '../contract/access/callers.ts';
import { Contract, type Operation } from '../contract/operations.ts';
import { validRequests } from '../contract/requests.ts';
import { valuesOf, type Schema } from '../contract/schema-values.ts';
import { addNode } from '../harness/fleet/fleet.ts';
import { createTestApi, createTestNodeApi, TEST_NODE_HEADER, type TestApi } from '../harness/api.ts';

/** JSON Schema takes most of these; the calendar or PostgreSQL does not. */
const NO_INSTANTS = [
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+00:01',
  '9999-12-31T23:59:59-15:59',
  '2016-12-31T23:59:60Z',
  '1990-12-31T15:59:60-08:00',
  '2026-01-01T00:00:00+16:00',
  '2026-01-01T00:00:00-23:59',
  '2026-02-29T00:00:00Z',
  'infinity',
];
const UNUSUAL = ['2026-01-01t00:00:00z', '2026-01-01T00:00:00.123456789+15:59', '0001-01-01T00:00:00Z'];

interface Place {
  id: string;
  operation: Operation;
  where: string;
  write(instant: string): { url: string; payload?: string };
}

const contracts = { public: new Contract(document), node: new Contract(nodeDocument) };
const places = (name: keyof typeof contracts) =>
  contracts[name].operations.flatMap((operation) => placesOf(contracts[name], operation));

let api: TestApi;
let node: FastifyInstance;
let callers: RoleCaller[];
let nodeId: string;
beforeAll(async () => {
  api = await createTestApi();
  node = await createTestNodeApi(api);
  nodeId = await addNode(api);
  const tenantOf = (person: string) => ({
    organizationId: api.people[person]!.organizationId!,
    projectId: api.people[person]!.projectId!,
  });
  callers = await createCallers(api.services.db, { owner: tenantOf('admin'), other: tenantOf('other') });
});
afterAll(async () => {
  await node?.close();
  await api?.stop();
});

describe.each([
  { name: 'public' as const, server: () => api.server },
  { name: 'node' as const, server: () => node },
])('date-times of the $name API', ({ name, server }) => {
  it.each(places(name))('$id refuses $where that is no moment, and takes every other', async (place) => {
    for (const instant of NO_INSTANTS) {
      const answer = await send(server(), place, instant);
      expect(answer.statusCode, `${instant} → ${answer.body}`).toBe(400);
    }
    for (const instant of UNUSUAL) {
      const answer = await send(server(), place, instant);
      expect(answer.statusCode, `${instant} → ${answer.body}`).toBeLessThan(500);
      expect(answer.body).not.toContain('must match format');
    }
  });
});

function send(server: FastifyInstance, { operation, write }: Place, instant: string) {
  const { permission } = operation;
  const key =
    permission === null || permission === 'self'
      ? api.people['admin']!.apiKey
      : keyOfHolder(callers, permission);
  const { url, payload } = write(instant);
  return server.inject({
    method: operation.method as 'POST',
    url,
    headers: {
      authorization: `Bearer ${key}`,
      [TEST_NODE_HEADER]: nodeId,
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(payload === undefined ? {} : { payload }),
  });
}

function placesOf(contract: Contract, operation: Operation): Place[] {
  const { id } = operation;
  const isInstant = (schema: Schema): boolean =>
    instantsIn(contract, schema).some((path) => path.length === 0);
  const [valid] = fc.sample(validRequests(contract, operation, {}), { seed: 5, numRuns: 1 });
  const parameters = operation.parameters
    .filter((parameter) => parameter.in === 'query' && isInstant(parameter.schema))
    .map(({ name }) => ({
      id,
      operation,
      where: `the parameter ${name}`,
      write: (instant: string) => {
        const url = new URL(valid!.url, 'http://x');
        url.searchParams.set(name, instant);
        return { url: url.pathname + url.search };
      },
    }));
  const fields = (operation.body ? instantsIn(contract, operation.body) : []).map((path) => ({
    id,
    operation,
    where: `the field ${path.join('.')}`,
    write: (instant: string) => ({
      url: valid!.url,
      payload: JSON.stringify(valueWith(contract, operation.body!, path, instant)),
    }),
  }));
  return [...parameters, ...fields];
}

/** The ways to every date-time below a schema; a number stands for an item of a list. */
function instantsIn(contract: Contract, schema: Schema, depth = 0): (string | 0)[][] {
  const { format, properties = {}, items, anyOf = [], oneOf = [], allOf = [] } = contract.resolve(schema);
  if (depth > 6) return [];
  const below = (part: Schema, step: string | 0) =>
    instantsIn(contract, part, depth + 1).map((path) => [step, ...path]);
  return [
    ...(format === 'date-time' ? [[]] : []),
    ...Object.entries(properties).flatMap(([name, field]) => below(field, name)),
    ...(items ? below(items, 0) : []),
    ...[...anyOf, ...oneOf, ...allOf].flatMap((part) => instantsIn(contract, part, depth + 1)),
  ];
}

function valueWith(contract: Contract, given: Schema, path: (string | 0)[], instant: string): unknown {
  const [step, ...rest] = path;
  const schema = contract.resolve(given);
  if (step === undefined) return instant;
  if (step === 0) return [valueWith(contract, schema.items!, rest, instant)];
  const part = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
    .map((one) => contract.resolve(one))
    .find(({ properties }) => properties?.[step]);
  const [others] = fc.sample(valuesOf(part!, contract.resolve), { seed: 5, numRuns: 1 });
  return { ...(others as object), [step]: valueWith(contract, part!.properties![step]!, rest, instant) };
}
