import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { isDatabaseAway } from '../db/is-database-away.ts';
import { newId } from '../ids.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Problem } from './problem.ts';
import { validationProblem } from './validation.ts';
import { endSocket } from './wire/end-socket.ts';
import { securityHeaderLines } from './wire/security-headers.ts';

/** A restart of PostgreSQL takes about this long. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Turns every failure into a problem; an unexpected one is logged and answered as `internal_error` without
 * detail.
 */
export function toProblem(error: unknown, log: Logger, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  const known = error as FastifyError;
  if (known.validation) return validationProblem(known.validationContext, known.validation);
  if (known.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new Problem('body_too_large', 'The body is larger than this operation accepts.');
  }
  if (known.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new Problem('unsupported_media_type', 'Send the body as application/json.');
  }
  if (known.statusCode !== undefined && known.statusCode >= 400 && known.statusCode < 500) {
    // Fastify's own texts are fixed; a parser's text may quote the body.
    const own = known.code?.startsWith('FST_ERR_') ?? false;
    return new Problem('invalid_request', own ? known.message : 'The body is not valid JSON.');
  }
  // The route, not the URL: a query may carry a sign-in code.
  const route = request.routeOptions.url ?? '(none)';
  if (isDatabaseAway(error)) {
    const about = { err: error, correlation_id: request.id, method: request.method, route };
    log.warn(about, 'the database is away');
    return new Problem(
      'service_unavailable',
      'The database does not answer in time. Try again in a moment.',
      {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      },
    );
  }
  log.error({ err: error, correlation_id: request.id, method: request.method, route }, 'request failed');
  return new Problem('internal_error', 'The failure is logged under the correlation id.');
}

export function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (problem.options.retryAfterSeconds !== undefined) {
    reply.header('retry-after', String(problem.options.retryAfterSeconds));
  }
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
  return reply
    .code(problem.status)
    .header('x-correlation-id', request.id)
    .type('application/problem+json')
    .send(JSON.stringify(problem.toJson(request.id)));
}

/** The bytes were not HTTP, so there is no request; the socket still gets a problem. */
export function sendMalformedRequest(socket: Socket, publicUrl: string | null): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const correlationId = newId();
  const body = JSON.stringify(
    new Problem('invalid_request', 'The request is not valid HTTP.').toJson(correlationId),
  );
  endSocket(
    socket,
    [
      'HTTP/1.1 400 Bad Request',
      'content-type: application/problem+json',
      `content-length: ${Buffer.byteLength(body)}`,
      ...securityHeaderLines(publicUrl),
      `x-correlation-id: ${correlationId}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
