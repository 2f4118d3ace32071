import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { OperationObject } from './operation.ts';
import { Problem } from './problem.ts';

const STREAMED = 'application/octet-stream';

/** An escaped NUL; an even number of backslashes before it would only escape each other. */
const NUL_ESCAPE = /(?<!\\)(?:\\\\)*\\u0000/;

/** An escaped half of a surrogate pair. */
const SURROGATE_ESCAPE = /(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]/;

/**
 * Accepts JSON, and bytes for operations that take them unread; other types that fastify accepts by default would pass no
 * schema.
 */
export function acceptDeclaredTypes(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const parse = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text: string, done) => {
    request.bodyBytes = text.length;
    if (NUL_ESCAPE.test(text) || text.includes('\0')) done(refusal('The body contains a NUL character.'));
    else if (SURROGATE_ESCAPE.test(text) && !isWellFormed(text))
      done(refusal('The body contains half of a character.'));
    else {
      if (request.keepsRawBody) request.rawBody = text;
      void parse(request, text, done);
    }
  });
  // The handler reads it; nothing is kept in memory.
  server.addContentTypeParser(STREAMED, (_, payload, done) => done(null, payload));
}

/** Serialized again, whole characters need no escapes; text that is not JSON is left to the parser. */
function isWellFormed(text: string): boolean {
  try {
    return !SURROGATE_ESCAPE.test(JSON.stringify(JSON.parse(text)));
  } catch {
    return true;
  }
}

/** Requires a body exactly where the contract declares one, and refuses text that the database cannot store. */
export function requireDeclaredBody(request: FastifyRequest, operation: OperationObject): void {
  if (request.url.includes('%00')) throw refusal('The path or query contains a NUL character.');
  const streamed = operation['x-max-stream-bytes'] !== undefined;
  const expected = streamed ? STREAMED : 'application/json';
  if (operation.requestBody) {
    if (request.body === undefined) throw refusal(`The operation needs a body of type ${expected}.`);
    if (request.body instanceof Readable !== streamed)
      throw new Problem('unsupported_media_type', `Send the body as ${expected}.`);
  } else if (request.body !== undefined) {
    throw refusal('The operation takes no body.');
  }
}

/** The body of an operation with `x-max-stream-bytes`. */
export function streamOf({ body }: FastifyRequest): Readable {
  if (body instanceof Readable) return body;
  throw new Error('the operation has no streamed body');
}

function refusal(detail: string): Problem {
  return new Problem('invalid_request', detail);
}
