import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import nodeDocument from '@gpuaas/contracts/generated/node-openapi.json' with { type: 'json' };
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, createTestNodeApi, TEST_NODE_HEADER, type TestApi } from '../harness/api.ts';
import { createCallers, keyOfHolder, type RoleCaller } from './access/callers.ts';
import { CANNOT_SUCCEED, seedKnownResources, type KnownValues } from './known-resources.ts';
import { Contract, type Operation } from './operations.ts';
import { malformedRequests, plainRequests, validRequests, type GeneratedRequest } from './requests.ts';

const MALFORMED = 200;
const VALID = 50;
/** Number of valid requests that name only existing resources; each of the people sends some. */
const PLAIN = 8;
const seed = Number(process.env['GPUAAS_FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const parallel = 8;

let api: TestApi;
let nodeServer: FastifyInstance;
let nodeId: string;
let callers: RoleCaller[];
let valuesFor: (operation: string) => KnownValues;
beforeAll(async () => {
  console.log(`contract fuzz: GPUAAS_FUZZ_SEED=${seed}`);
  api = await createTestApi();
  nodeServer = await createTestNodeApi(api);
  ({ nodeId, valuesFor } = await seedKnownResources(api));
  const tenantOf = (person: string) => ({
    organizationId: api.people[person]!.organizationId!,
    projectId: api.people[person]!.projectId!,
  });
  callers = await createCallers(api.services.db, { owner: tenantOf('admin'), other: tenantOf('other') });
});
afterAll(async () => {
  await nodeServer?.close();
  await api?.stop();
});

const publicContract = new Contract(document);
const nodeContract = new Contract(nodeDocument);

describe.each(publicContract.operations.map((operation) => ({ id: operation.id, operation })))(
  '$id',
  ({ operation }) => {
    const stream = operation.id === 'streamEvents';
    if (!operation.public) {
      it('refuses malformed requests without credentials as unauthenticated', async () => {
        for (const request of sample(malformedRequests(publicContract, operation), 10)) {
          const answer = await send(api.server, request);
          expect(answer.statusCode, explain(request, answer)).toBe(401);
          assertDocumented(publicContract, operation, request, answer);
        }
      });
    }
    if (hasMalformed(operation)) {
      it(`refuses ${MALFORMED} malformed requests as documented`, async () => {
        await each(sample(malformedRequests(publicContract, operation), MALFORMED), async (request) => {
          const answer = await send(api.server, {
            ...request,
            headers: { ...request.headers, authorization: `Bearer ${keyFor(operation)}` },
          });
          assertRefused(answer, request);
          assertDocumented(publicContract, operation, request, answer);
        });
      });
    }
    if (!stream) {
      it(`answers ${VALID} valid requests as documented`, async () => {
        const people = ['operator', 'member', 'admin', 'other'];
        const statuses = new Set<number>();
        await each(valid(publicContract, operation), async (request, index) => {
          const as = credentials(people[index % people.length]!);
          const answer = await send(api.server, {
            ...request,
            headers: { ...request.headers, ...(operation.public ? {} : as) },
          });
          assertDocumented(publicContract, operation, request, answer);
          expect(answer.statusCode, explain(request, answer)).not.toBe(401);
          statuses.add(answer.statusCode);
        });
        assertSucceeded(operation, statuses);
      });
    } else {
      it(`opens ${VALID} streams`, async () => {
        const base = await api.server.listen({ host: '127.0.0.1', port: 0 });
        await each(sample(validRequests(publicContract, operation, {}), VALID), async (request) => {
          const gone = new AbortController();
          const response = await fetch(base + request.url, {
            headers: { ...request.headers, ...credentials('member') },
            signal: gone.signal,
          });
          expect(response.status).toBe(200);
          expect(response.headers.get('content-type')).toBe('text/event-stream');
          await response.body!.getReader().read();
          gone.abort();
        });
      });
    }
  },
);

describe.each(nodeContract.operations.map((operation) => ({ id: operation.id, operation })))(
  'node $id',
  ({ operation }) => {
    if (!operation.public) {
      it('refuses malformed requests without a certificate as unauthenticated', async () => {
        for (const request of sample(malformedRequests(nodeContract, operation), 10)) {
          const answer = await send(nodeServer, request);
          expect(answer.statusCode, explain(request, answer)).toBe(401);
        }
      });
    }
    it(`refuses ${MALFORMED} malformed requests as documented`, async () => {
      await each(sample(malformedRequests(nodeContract, operation), MALFORMED), async (request) => {
        const answer = await send(nodeServer, {
          ...request,
          headers: { ...request.headers, [TEST_NODE_HEADER]: nodeId },
        });
        assertRefused(answer, request);
        assertDocumented(nodeContract, operation, request, answer);
      });
    });
    it(`answers ${VALID} valid requests as documented`, async () => {
      const statuses = new Set<number>();
      await each(valid(nodeContract, operation), async (request) => {
        const payload = request.payload?.replace(/"wait_seconds":\d+/, '"wait_seconds":0');
        const answer = await send(nodeServer, {
          ...request,
          ...(payload === undefined ? {} : { payload }),
          headers: { ...request.headers, [TEST_NODE_HEADER]: nodeId },
        });
        assertDocumented(nodeContract, operation, request, answer);
        statuses.add(answer.statusCode);
      });
      assertSucceeded(operation, statuses);
    });
  },
);

describe.each([
  { name: 'public', contract: publicContract, server: () => api.server },
  { name: 'node', contract: nodeContract, server: () => nodeServer },
])('methods of the $name API that the contract does not declare', ({ contract, server }) => {
  it('are refused with the ones it does', async () => {
    for (const [path, declared] of contract.methodsByPath) {
      const url = path.replaceAll(/\{\w+\}/g, '019a8000-0000-7000-8000-000000000001');
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
        if (declared.includes(method)) continue;
        const answer = await server().inject({ method, url, payload: 'not read' });
        expect(answer.statusCode, `${method} ${url}`).toBe(405);
        expect(
          String(answer.headers['allow'])
            .split(', ')
            .filter((name) => name !== 'HEAD'),
        ).toEqual(declared);
        expect(answer.json()).toMatchObject({ code: 'method_not_allowed', status: 405 });
      }
    }
  });
});

/** Somebody whose body is read: who lacks the permission is refused before. */
function keyFor({ permission }: Operation): string {
  if (permission === null || permission === 'self') return api.people['operator']!.apiKey;
  return keyOfHolder(callers, permission);
}

function credentials(person: string): Record<string, string> {
  return { authorization: `Bearer ${api.people[person]!.apiKey}` };
}

function hasMalformed(operation: Operation): boolean {
  return operation.parameters.length > 0 || operation.body !== null || !operation.public;
}

function sample<T>(arbitrary: fc.Arbitrary<T>, count: number): T[] {
  return fc.sample(arbitrary, { seed, numRuns: count });
}

function valid(contract: Contract, operation: Operation): GeneratedRequest[] {
  const known = valuesFor(operation.id);
  return [
    ...sample(plainRequests(contract, operation, known), PLAIN),
    ...sample(validRequests(contract, operation, known), VALID - PLAIN),
  ];
}

async function each<T>(items: T[], run: (item: T, index: number) => Promise<void>): Promise<void> {
  const queue = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of queue) await run(item, index);
  };
  await Promise.all(Array.from({ length: parallel }, work));
}

async function send(server: FastifyInstance, request: GeneratedRequest): Promise<LightMyRequestResponse> {
  return await server.inject({
    method: request.method as 'GET',
    url: request.url,
    headers: request.headers,
    ...(request.payload === undefined ? {} : { payload: request.payload }),
  });
}

function assertRefused(answer: LightMyRequestResponse, request: GeneratedRequest): void {
  expect([400, 404, 413, 415], explain(request, answer)).toContain(answer.statusCode);
}

/** A fuzz whose every request is refused would test nothing but the refusal. */
function assertSucceeded(operation: Operation, statuses: Set<number>): void {
  const succeeded = [...statuses].some((status) => status < 400);
  expect(succeeded, `${operation.id} answered only ${[...statuses].join(', ')}`).toBe(
    !(operation.id in CANNOT_SUCCEED),
  );
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'public', ...document });
ajv.addSchema({ $id: 'node', ...nodeDocument });

/** Status declared, media type declared, body as the schema says. */
function assertDocumented(
  contract: Contract,
  operation: Operation,
  request: GeneratedRequest,
  answer: LightMyRequestResponse,
): void {
  const explanation = explain(request, answer);
  const expected = contract.response(operation, answer.statusCode);
  expect(expected, `undeclared status: ${explanation}`).toBeDefined();
  if (!expected!.content) {
    expect(answer.body, explanation).toBe('');
    return;
  }
  const type = String(answer.headers['content-type']).split(';')[0]!;
  const schema = expected!.content[type]?.schema;
  expect(schema, `undeclared media type ${type}: ${explanation}`).toBeDefined();
  const body: unknown = type.endsWith('json') ? answer.json() : answer.body;
  const validate = validatorOf(contract, schema!);
  expect(validate(body) || validate.errors, explanation).toBe(true);
}

const validators = new Map<object, ValidateFunction>();

function validatorOf(contract: Contract, schema: object): ValidateFunction {
  const known = validators.get(schema);
  if (known) return known;
  const name = contract === publicContract ? 'public' : 'node';
  const rooted = JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', `"$ref":"${name}#`)) as object;
  const validate = ajv.compile(rooted);
  validators.set(schema, validate);
  return validate;
}

function explain(request: GeneratedRequest, answer: LightMyRequestResponse): string {
  const defect = 'defect' in request ? `[${String(request.defect)}] ` : '';
  return `${defect}${request.method} ${request.url} ${JSON.stringify(request.headers)} ${request.payload?.slice(0, 500) ?? ''} → ${answer.statusCode} ${answer.body.slice(0, 800)}`;
}
