import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify';
import glue from 'fastify-openapi-glue';
import type { Denials } from '../audit/denials.ts';
import type { Db } from '../db/database.ts';
import { isUuid, newId } from '../ids.ts';
import type { HttpMetrics } from '../telemetry/http-metrics.ts';
import type { Logger } from '../telemetry/logger.ts';
import { createAdmission, type AdmissionParts, type Admit } from './admission/admission.ts';
import { DenialLog } from './admission/denial-log.ts';
import type { CheckCreation } from './creation-limits.ts';
import type { CallerIdentity } from './caller-identity.ts';
import { validateResponses, type OnContractMismatch } from './responses/validate-responses.ts';
import { sendMalformedRequest, sendProblem, toProblem } from './send-problem.ts';
import { GracefulStop } from './graceful-stop.ts';
import type { ContractDocument, Handler, OperationObject } from './operation.ts';
import { operationRoute } from './operation-route.ts';
import { Problem } from './problem.ts';
import type { RateLimits } from './admission/rate-limits.ts';
import { observeRequests } from './observe-requests.ts';
import { acceptDeclaredTypes } from './strict-body.ts';
import { refuseUndeclaredMethods } from './undeclared-methods.ts';
import { createValidators } from './validation.ts';
import { guardSockets } from './wire/guard-sockets.ts';

export interface ContractServerOptions<Caller extends CallerIdentity> {
  /** Names the server in logs, metrics and spans. */
  name: 'public' | 'node';
  document: ContractDocument;
  /** Of the port that browsers use. */
  publicUrl?: string;
  handlers: Record<string, Handler<never, Caller>>;
  /** Runs before any validation; throws a problem for invalid credentials. */
  authenticate(request: FastifyRequest, operation: OperationObject): Promise<Caller>;
  db: Db;
  log: Logger;
  metrics?: HttpMetrics;
  /** See `AdmissionParts`. */
  isProven?: AdmissionParts<Caller>['isProven'];
  requirePermission?: AdmissionParts<Caller>['requirePermission'];
  rateLimits: RateLimits;
  /** Refuses a creation above the limit of its operation. */
  checkCreation?: CheckCreation;
  /** Where refused attempts are audited. */
  denials: Denials;
  /** In tests every response is compared with the contract; a mismatch is reported here and answered as 500. */
  onMismatch?: OnContractMismatch;
  fastify?: FastifyServerOptions;
  /** Plugins that must be registered before the routes. */
  prepare?: (server: FastifyInstance) => Promise<void>;
}

export interface ContractServer<Caller = unknown> {
  server: FastifyInstance;
  /** For routes outside the contract, which share its limits. */
  admit: Admit<Caller>;
  /** Stops accepting, lets requests in flight finish, ends streams and long polls, then closes. */
  stop(): Promise<void>;
}

/** A strict HTTP server of one OpenAPI document: anything outside the contract is refused. */
export async function createContractServer<Caller extends CallerIdentity>(
  options: ContractServerOptions<Caller>,
): Promise<ContractServer<Caller>> {
  const server: FastifyInstance = Fastify({
    ...options.fastify,
    bodyLimit: options.document['x-max-body-bytes'],
    genReqId: (request) => correlationId(request.headers['x-correlation-id']),
    requestIdHeader: false,
    // The contract limits the length of a parameter, after authentication; a request line has its own limit.
    routerOptions: { maxParamLength: 16_384 },
    forceCloseConnections: 'idle',
    // A failure before a route is found is answered as a problem, too.
    frameworkErrors: (error, request, reply) =>
      sendProblem(toProblem(error, options.log, request), request, reply),
    clientErrorHandler: (_error, socket) => sendMalformedRequest(socket, options.publicUrl ?? null),
    // While stopping, open connections are served and closed after the response.
    return503OnClosing: false,
  });
  guardSockets(server.server);
  const graceful = new GracefulStop(server);
  const validators = createValidators();
  server.setValidatorCompiler(({ schema, httpPart }) => validators.compile(schema, httpPart));
  server.setSerializerCompiler(() => (data) => JSON.stringify(data));
  server.setErrorHandler((error, request, reply) =>
    sendProblem(toProblem(error, options.log, request), request, reply),
  );
  server.setNotFoundHandler((request, reply) =>
    sendProblem(new Problem('not_found', 'This path does not exist.'), request, reply),
  );
  acceptDeclaredTypes(server);
  observeRequests(server, { ...options, version: options.document.info.version });
  const { onMismatch, log } = options;
  const checkStream = onMismatch
    ? validateResponses(server, options.document, { log, onMismatch })
    : undefined;
  await options.prepare?.(server);
  const denials = new DenialLog(options.denials);
  const admit = createAdmission({ ...options, denials });
  await server.register(glue, {
    specification: withoutStreams(options.document),
    operationResolver: (operationId) =>
      operationRoute(
        { ...options, admit, denials, denied: options.denials, graceful, checkStream },
        findOperation(options.document, operationId),
      ),
  });
  refuseUndeclaredMethods(server, options.document);
  return { server, admit, stop: () => graceful.stop() };
}

/** A body that is read as a stream has nothing that a schema could check. */
function withoutStreams(document: ContractDocument): ContractDocument {
  const copy = structuredClone(document);
  for (const operation of Object.values(copy.paths).flatMap((item) => Object.values(item)))
    if (operation['x-max-stream-bytes'] !== undefined) delete operation.requestBody;
  return copy;
}

function findOperation(document: ContractDocument, operationId: string): OperationObject {
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item)) {
      if (operation.operationId === operationId) return operation;
    }
  }
  throw new Error(`the contract has no operation ${operationId}`);
}

function correlationId(header: string | string[] | undefined): string {
  return typeof header === 'string' && isUuid(header) ? header.toLowerCase() : newId();
}
