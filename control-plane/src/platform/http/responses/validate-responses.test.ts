import { connect } from 'node:net';
import { fixedPolicies } from '../../policy/testing.ts';
import { policyRateLimits } from '../admission/rate-limits.ts';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../db/database.ts';
import { unlimitedDenials } from '../../audit/testing/denials.ts';
import { createTestDatabase } from '../../db/testing.ts';
import { createLogger } from '../../telemetry/logger.ts';
import { ResponseValidator } from './response-validator.ts';
import type { CallerIdentity } from '../caller-identity.ts';
import { createContractServer, type ContractServer } from '../contract-server.ts';
import { HIJACKED, type ContractDocument, type Handler } from '../operation.ts';
import { Mismatches } from './testing/mismatches.ts';

const problem = { $ref: '#/components/responses/Problem' };
const word = {
  type: 'object',
  required: ['word'],
  additionalProperties: false,
  properties: { word: { type: 'string', maxLength: 5 } },
};
const operation = (operationId: string, responses: object) => ({
  operationId,
  security: [],
  responses: { ...responses, '4XX': problem },
});
const json = { content: { 'application/json': { schema: word } } };
const document = {
  openapi: '3.1.0',
  info: { title: 'test', version: '1' },
  'x-max-body-bytes': 1000,
  paths: {
    '/word': { get: operation('getWord', { '200': { description: 'ok', ...json } }) },
    '/moved': {
      get: operation('getMoved', {
        '302': {
          description: 'moved',
          headers: { Location: { required: true, schema: { type: 'string', maxLength: 10 } } },
        },
      }),
    },
    '/stream': {
      get: operation('getStream', {
        '200': { description: 's', content: { 'text/event-stream': { schema: { type: 'string' } } } },
      }),
    },
  },
  components: {
    responses: {
      Problem: {
        description: 'no',
        headers: { 'Retry-After': { schema: { type: 'integer', minimum: 0 } } },
        content: {
          'application/problem+json': {
            schema: {
              type: 'object',
              required: ['code'],
              properties: { code: { type: 'string', maxLength: 64 } },
            },
          },
        },
      },
    },
  },
} as unknown as ContractDocument;

let database: Database;
let drop: () => Promise<void>;
let api: ContractServer;
let answer: Handler<never, CallerIdentity>;
const mismatches = new Mismatches();
const lines: string[] = [];
beforeAll(async () => {
  const created = await createTestDatabase();
  drop = created.drop;
  database = openDatabase(created.url);
  const log = createLogger('test', { write: (line: string) => void lines.push(line) });
  const handler: Handler<never, CallerIdentity> = (context) => answer(context);
  api = await createContractServer<CallerIdentity>({
    name: 'public',
    document,
    handlers: { getWord: handler, getMoved: handler, getStream: handler },
    authenticate: async () => ({
      id: 'nobody',
      actorId: null,
      role: 'none',
      authorised: false,
      scope: { role: 'gpuaas_tenant' },
    }),
    db: database.db,
    rateLimits: policyRateLimits(fixedPolicies()),
    denials: unlimitedDenials({ db: database.db, log }),
    log,
    onMismatch: mismatches.onMismatch,
  });
});
afterAll(async () => {
  await api?.stop();
  await database?.close();
  await drop?.();
});

const replies = (reply: object) => (answer = async () => reply as never);

describe('a response that the contract does not declare', () => {
  it.each([
    ['a status', '/word', { status: 201, body: { word: 'hi' } }, /declares no status 201/],
    ['a field', '/word', { status: 200, body: { word: 'hi', more: 1 } }, /additional properties/],
    ['a length', '/word', { status: 200, body: { word: 'too long' } }, /more than 5/],
    ['a media type', '/word', { status: 200, body: 'hi', mediaType: 'text/plain' }, /media type text\/plain/],
    ['no body', '/word', { status: 200, body: undefined }, /media type undefined|no body/],
    [
      'a body where there is none',
      '/moved',
      { status: 302, body: { a: 1 }, location: '/' },
      /none is declared/,
    ],
    ['a missing header', '/moved', { status: 302, body: undefined }, /Location is missing/],
    [
      'a long header',
      '/moved',
      { status: 302, body: undefined, location: '/0123456789' },
      /Location .*more than 10/,
    ],
  ])('fails: %s', async (_name, url, reply, expected) => {
    replies(reply);
    const response = await api.server.inject(url);
    expect(response.statusCode).toBe(500);
    expect(response.json()).toMatchObject({ code: 'response_breaks_contract' });
    const [mismatch, ...others] = mismatches.take();
    expect(mismatch).toMatch(expected);
    expect(others).toEqual([]);
    expect(lines.some((line) => line.includes('an answer breaks the contract'))).toBe(true);
  });

  it('fails as a stream: it is cut', async () => {
    answer = async ({ reply }) => {
      reply.hijack().raw.writeHead(200, { 'content-type': 'text/html' });
      reply.raw.write('a');
      return HIJACKED;
    };
    const url = await api.server.listen({ host: '127.0.0.1', port: 0 });
    const cut = fetch(`${url}/stream`).then((response) => response.text());
    await expect(cut).rejects.toThrow();
    expect(mismatches.take()).toHaveLength(1);
  });
});

describe('declared responses pass', () => {
  it('from handlers, for unknown paths and undeclared methods, and where fastify answers before us', async () => {
    replies({ status: 200, body: { word: 'hi' } });
    const answers = [
      await api.server.inject('/word'),
      await api.server.inject({ method: 'HEAD', url: '/word' }),
      await api.server.inject({ method: 'DELETE', url: '/word' }),
      await api.server.inject('/nowhere'),
      await api.server.inject('/%zz'),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 405, 404, 400]);
    const checker = new ResponseValidator(document);
    const { statusCode, headers, body } = answers.at(-1)!;
    expect(checker.mismatch({ method: 'GET', path: null, status: statusCode, headers, body })).toBeNull();
    mismatches.assertNone();
  });

  it('also when the bytes were not HTTP', async () => {
    const { port } = api.server.server.address() as AddressInfo;
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(port, '127.0.0.1', () => socket.write('nonsense\r\n\r\n'));
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
      socket.on('close', () => resolve(text));
    });
    const [head, body] = answer.split('\r\n\r\n') as [string, string];
    const headers = Object.fromEntries(
      head
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(': ')),
    );
    const checker = new ResponseValidator(document);
    expect(checker.mismatch({ method: 'GET', path: null, status: 400, headers, body })).toBeNull();
  });
});
