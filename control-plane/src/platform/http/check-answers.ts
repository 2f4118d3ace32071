import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../telemetry/logger.ts';
import { AnswerChecker } from './answer-checker.ts';
import type { ContractDocument } from './operation.ts';
import { Problem } from './problem.ts';

/** Hears of every answer that breaks the contract. */
export type OnMismatch = (told: string) => void;

/**
 * Holds everything the server sends against the contract, whoever wrote it: handlers, problems, unknown paths,
 * refused methods, redirects. A mismatch is told, logged and answered as `response_breaks_contract`.
 * Returns the check for streams, whose head is all there is to hold.
 */
export function checkAnswers(
  server: FastifyInstance,
  document: ContractDocument,
  { log, onMismatch }: { log: Logger; onMismatch: OnMismatch },
): (request: FastifyRequest, reply: FastifyReply) => void {
  const checker = new AnswerChecker(document);
  const paths = new Map(
    Object.keys(document.paths).map((path) => [path.replaceAll(/\{(\w+)\}/g, ':$1'), path]),
  );
  const told = new WeakSet<FastifyRequest>();

  const check = (
    request: FastifyRequest,
    status: number,
    headers: Record<string, unknown>,
    body: string | null,
  ): boolean => {
    const path = paths.get(request.routeOptions.url ?? '') ?? null;
    const mismatch = checker.mismatch({ method: request.method, path, status, headers, body });
    if (!mismatch) return true;
    const what = `${request.method} ${path ?? '(no path)'} answered ${status}: ${mismatch}`;
    log.error({ correlation_id: request.id, mismatch: what }, 'an answer breaks the contract');
    onMismatch(what);
    return false;
  };

  server.addHook('onSend', async (request, reply, payload) => {
    if (told.has(request) || !isOurs(request, reply, paths)) return payload;
    const body =
      typeof payload === 'string' ? payload : Buffer.isBuffer(payload) ? payload.toString('latin1') : null;
    if (check(request, reply.statusCode, reply.getHeaders(), body)) return payload;
    told.add(request);
    throw new Problem('response_breaks_contract', 'The answer is not one the contract declares.');
  });

  return (request, reply) => {
    if (!check(request, reply.raw.statusCode, reply.raw.getHeaders(), null)) reply.raw.destroy();
  };
}

/** The console's files are no part of the contract; a problem is, wherever it comes from. */
function isOurs(request: FastifyRequest, reply: FastifyReply, paths: Map<string, string>): boolean {
  if (request.is404 || paths.has(request.routeOptions.url ?? '')) return true;
  return String(reply.getHeader('content-type')).startsWith('application/problem+json');
}
