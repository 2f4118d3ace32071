import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { toProblem } from './send-problem.ts';
import { acceptDeclaredTypes } from './strict-body.ts';
import { createLogger } from '../telemetry/logger.ts';

describe('bodies', () => {
  it('may hold anything JSON can, but no NUL and no other media type', async () => {
    const server = Fastify();
    const log = createLogger('test', { write: () => undefined });
    acceptDeclaredTypes(server);
    server.setErrorHandler((error, request, reply) => {
      const { status, message } = toProblem(error, log, request);
      return reply.code(status).send({ message });
    });
    server.post('/', (request, reply) => reply.send({ body: request.body }));
    const post = (payload: string, type = 'application/json') =>
      server.inject({ method: 'POST', url: '/', payload, headers: { 'content-type': type } });
    expect((await post('"\\u0000"')).statusCode).toBe(400);
    expect((await post('{"a":["x\\\\\\u0000"]}')).statusCode).toBe(400);
    expect((await post('"a \\\\u0000 in words"')).json()).toEqual({ body: 'a \\u0000 in words' });
    // Half of a surrogate pair, which the database cannot store either.
    expect((await post('"a\\ud800"')).statusCode).toBe(400);
    expect((await post('{"a":["\\uDC00x"]}')).statusCode).toBe(400);
    expect((await post('{"\\udfff":1}')).statusCode).toBe(400);
    expect((await post('"\\ud83d\\ude00"')).json()).toEqual({ body: '😀' });
    expect((await post('"a \\\\ud800 in words"')).json()).toEqual({ body: 'a \\ud800 in words' });
    expect((await post('"\\ud800')).statusCode).toBe(400);
    expect((await post('"ä"', 'application/json; charset=utf-8')).json()).toEqual({ body: 'ä' });
    expect((await post('{"__proto__":{}}')).statusCode).toBe(400);
    expect((await post('{"secret": hidden}')).body).not.toContain('hidden');
    expect((await post('{}', 'text/plain')).statusCode).toBe(415);
    expect((await post('a=1', 'application/x-www-form-urlencoded')).statusCode).toBe(415);
  });
});
