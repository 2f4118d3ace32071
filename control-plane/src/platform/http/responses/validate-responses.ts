import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../../telemetry/logger.ts';
import { ResponseValidator } from './response-validator.ts';
import type { ContractDocument } from '../operation.ts';
import { Problem } from '../problem.ts';

/** Receives every mismatch with the contract. */
export type OnContractMismatch = (mismatch: string) => void;

/**
 * Compares every response of the server with the contract: handlers, problems, unknown paths, refused
 * methods, redirects. A mismatch is reported, logged and answered as `response_breaks_contract`. Returns the
 * check for streams, which covers only their head.
 */
export function validateResponses(
  server: FastifyInstance,
  document: ContractDocument,
  { log, onMismatch }: { log: Logger; onMismatch: OnContractMismatch },
): (request: FastifyRequest, reply: FastifyReply) => void {
  const checker = new ResponseValidator(document);
  const paths = new Map(
    Object.keys(document.paths).map((path) => [path.replaceAll(/\{(\w+)\}/g, ':$1'), path]),
  );
  const reported = new WeakSet<FastifyRequest>();

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
    if (reported.has(request) || !isOurs(request, reply, paths)) return payload;
    const body =
      typeof payload === 'string' ? payload : Buffer.isBuffer(payload) ? payload.toString('latin1') : null;
    if (check(request, reply.statusCode, reply.getHeaders(), body)) return payload;
    reported.add(request);
    throw new Problem('response_breaks_contract', 'The answer is not one the contract declares.');
  });

  return (request, reply) => {
    if (!check(request, reply.raw.statusCode, reply.raw.getHeaders(), null)) reply.raw.destroy();
  };
}

/** The console's files are no part of the contract; problems always are. */
function isOurs(request: FastifyRequest, reply: FastifyReply, paths: Map<string, string>): boolean {
  if (request.is404 || paths.has(request.routeOptions.url ?? '')) return true;
  return String(reply.getHeader('content-type')).startsWith('application/problem+json');
}
