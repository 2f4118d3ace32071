import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify';
import glue from 'fastify-openapi-glue';
import type { Db } from '../db/database.ts';
import { isUuid, newId } from '../ids.ts';
import type { HttpMetrics } from '../telemetry/http-metrics.ts';
import type { Logger } from '../telemetry/logger.ts';
import { createAdmission } from './admission.ts';
import { DenialLog } from './denial-log.ts';
import type { CallerIdentity } from './caller-identity.ts';
import { checkAnswers, type OnMismatch } from './check-answers.ts';
import { answerBrokenRequest, answerProblem, toProblem } from './errors.ts';
import { GracefulStop } from './graceful-stop.ts';
import type { ContractDocument, Handler, OperationObject } from './operation.ts';
import { operationRoute } from './operation-route.ts';
import { Problem } from './problem.ts';
import type { RateLimits } from './rate-limits.ts';
import { observeRequests } from './request-log.ts';
import { acceptOnlyJson } from './strict-body.ts';
import { refuseUndeclaredMethods } from './undeclared-methods.ts';
import { createValidators } from './validation.ts';

export interface ContractServerOptions<Caller extends CallerIdentity> {
  /** Names the server in logs, metrics and spans. */
  name: 'public' | 'node';
  document: ContractDocument;
  handlers: Record<string, Handler<never, Caller>>;
  /** Runs before any validation; throws a problem when the credentials do not hold. */
  authenticate(request: FastifyRequest, operation: OperationObject): Promise<Caller>;
  db: Db;
  log: Logger;
  metrics?: HttpMetrics;
  rateLimits: RateLimits;
  /** In tests everything sent is held against the contract; what breaks it is told here and answered as 500. */
  onMismatch?: OnMismatch;
  fastify?: FastifyServerOptions;
  /** Plugins that must stand before the routes. */
  prepare?: (server: FastifyInstance) => Promise<void>;
}

export interface ContractServer {
  server: FastifyInstance;
  /** Stops accepting, lets requests in flight finish, ends streams and long polls, then closes. */
  stop(): Promise<void>;
}

/** A strict HTTP server of one OpenAPI document: what is not in the contract is not answered. */
export async function createContractServer<Caller extends CallerIdentity>(
  options: ContractServerOptions<Caller>,
): Promise<ContractServer> {
  const server: FastifyInstance = Fastify({
    ...options.fastify,
    bodyLimit: options.document['x-max-body-bytes'],
    genReqId: (request) => correlationId(request.headers['x-correlation-id']),
    requestIdHeader: false,
    // How long a parameter may be is the contract's matter, after authentication; a request line has its own limit.
    routerOptions: { maxParamLength: 16_384 },
    forceCloseConnections: 'idle',
    // What fails before a route is found is told like everything else.
    frameworkErrors: (error, request, reply) =>
      answerProblem(toProblem(error, options.log, request), request, reply),
    clientErrorHandler: (_error, socket) => answerBrokenRequest(socket),
    // While stopping, whoever still has a connection is served and told to open another one next time.
    return503OnClosing: false,
  });
  const graceful = new GracefulStop(server);
  const validators = createValidators();
  server.setValidatorCompiler(({ schema, httpPart }) => validators.compile(schema as object, httpPart));
  server.setSerializerCompiler(() => (data) => JSON.stringify(data));
  server.setErrorHandler((error, request, reply) =>
    answerProblem(toProblem(error, options.log, request), request, reply),
  );
  server.setNotFoundHandler((request, reply) =>
    answerProblem(new Problem('not_found', 'There is nothing at this path.'), request, reply),
  );
  acceptOnlyJson(server);
  observeRequests(server, { ...options, version: options.document.info.version });
  const { onMismatch, log } = options;
  const checkStream = onMismatch ? checkAnswers(server, options.document, { log, onMismatch }) : undefined;
  await options.prepare?.(server);
  const denials = new DenialLog(options);
  const admit = createAdmission(options.authenticate, options.rateLimits, denials);
  await server.register(glue, {
    specification: structuredClone(options.document),
    operationResolver: (operationId) =>
      operationRoute(
        { ...options, admit, denials, graceful, checkStream },
        findOperation(options.document, operationId),
      ),
  });
  refuseUndeclaredMethods(server, options.document);
  return { server, stop: () => graceful.stop() };
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
