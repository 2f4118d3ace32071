import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { OperationObject } from './operation.ts';
import { Problem } from './problem.ts';

/** An escaped NUL; an even number of backslashes before it would only escape each other. */
const NUL_ESCAPE = /(?<!\\)(?:\\\\)*\\u0000/;

/** An escaped half of a character that takes two. */
const SURROGATE_ESCAPE = /(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]/;

/** JSON is the only body there is; what fastify would also take by default would pass no schema. */
export function acceptOnlyJson(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const parse = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text: string, done) => {
    if (NUL_ESCAPE.test(text) || text.includes('\0')) done(refusal('The body contains a NUL character.'));
    else if (SURROGATE_ESCAPE.test(text) && !isWellFormed(text))
      done(refusal('The body contains half of a character.'));
    else {
      if (request.keepsRawBody) request.rawBody = text;
      void parse(request, text, done);
    }
  });
}

/** Written anew, whole characters need no escapes; what is no JSON is left to the parser. */
function isWellFormed(text: string): boolean {
  try {
    return !SURROGATE_ESCAPE.test(JSON.stringify(JSON.parse(text)));
  } catch {
    return true;
  }
}

/** A body exactly where the contract declares one; no text that the database could not store. */
export function requireDeclaredBody(request: FastifyRequest, operation: OperationObject): void {
  if (request.url.includes('%00')) throw refusal('The path or query contains a NUL character.');
  if (operation.requestBody) {
    if (request.body === undefined) throw refusal('The operation needs a body of type application/json.');
  } else if (request.body !== undefined) {
    throw refusal('The operation takes no body.');
  }
}

function refusal(detail: string): Problem {
  return new Problem('invalid_request', detail);
}
