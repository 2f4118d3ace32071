import type { Server } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type FastifyServerOptions, type RouteOptions } from 'fastify';
import glue from 'fastify-openapi-glue';
import type { Db } from '../db/database.ts';
import { isUuid, newId } from '../ids.ts';
import type { Logger } from '../telemetry/logger.ts';
import { answerProblem, toProblem } from './errors.ts';
import { runMutation } from './mutation.ts';
import {
  HIJACKED,
  type AuditTarget,
  type Context,
  type ContractDocument,
  type Handler,
  type OperationObject,
} from './operation.ts';
import { Problem } from './problem.ts';
import { createResponseChecker, createValidators } from './validation.ts';

/** Who stands behind a request, as far as the HTTP layer must know. */
export interface CallerIdentity {
  /** Scopes idempotency keys and names the actor in the audit log. */
  id: string;
  userId: string | null;
  role: string;
  /** Set once a use-case has checked a permission. */
  authorised: boolean;
}

export interface ContractServerOptions<Caller extends CallerIdentity> {
  document: ContractDocument;
  handlers: Record<string, Handler<never, Caller>>;
  /** Runs before any validation; throws a problem when the credentials do not hold. */
  authenticate(request: FastifyRequest, operation: OperationObject): Promise<Caller>;
  db: Db;
  log: Logger;
  /** In tests every answer is checked against the contract and a mismatch fails. */
  checkResponses: boolean;
  fastify?: FastifyServerOptions<Server>;
  /** Plugins that must stand before the routes. */
  prepare?: (server: FastifyInstance) => Promise<void>;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const BODY_LIMIT = 256 * 1024;

/** A strict HTTP server of one OpenAPI document: what is not in the contract is not answered. */
export async function createContractServer<Caller extends CallerIdentity>(
  options: ContractServerOptions<Caller>,
): Promise<FastifyInstance> {
  const server: FastifyInstance = Fastify({
    ...options.fastify,
    bodyLimit: BODY_LIMIT,
    genReqId: (request) => correlationId(request.headers['x-correlation-id']),
    requestIdHeader: false,
    forceCloseConnections: 'idle',
  });
  const validators = createValidators();
  server.setValidatorCompiler(({ schema, httpPart }) => validators.compile(schema as object, httpPart));
  server.setSerializerCompiler(() => (data) => JSON.stringify(data));
  server.setErrorHandler((error, request, reply) => answerProblem(toProblem(error, options.log, request), request, reply));
  server.setNotFoundHandler((request, reply) =>
    answerProblem(new Problem('not_found', 'There is nothing at this path.'), request, reply),
  );
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-correlation-id', request.id);
  });
  await options.prepare?.(server);
  await server.register(glue, {
    specification: structuredClone(options.document),
    operationResolver: (operationId) => routeOptions(options, findOperation(options.document, operationId)),
  });
  refuseOtherMethods(server, options.document);
  return server;
}

function routeOptions<Caller extends CallerIdentity>(
  options: ContractServerOptions<Caller>,
  operation: OperationObject,
): RouteOptions {
  const handler = options.handlers[operation.operationId];
  if (!handler) throw new Error(`operation ${operation.operationId} has no handler`);
  const callers = new WeakMap<FastifyRequest, Caller>();
  const checkResponse = createResponseChecker();
  return {
    onRequest: async (request: FastifyRequest) => {
      callers.set(request, await options.authenticate(request, operation));
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const caller = callers.get(request)!;
      const context = createContext(options, operation, caller, request, reply);
      const answer = await handler(context);
      if (answer === HIJACKED) return reply;
      const { status, body, location } = answer as unknown as { status: number; body: unknown; location?: string };
      if (operation['x-permission'] && operation['x-permission'] !== 'self' && !caller.authorised) {
        throw new Error(`operation ${operation.operationId} answered without checking a permission`);
      }
      if (options.checkResponses) assertDocumented(request, status, body, checkResponse);
      if (location) reply.header('location', location);
      return await reply.code(status).send(body);
    },
    // The rest of the route comes from the contract.
  } as unknown as RouteOptions;
}

function createContext<Caller extends CallerIdentity>(
  options: ContractServerOptions<Caller>,
  operation: OperationObject,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Context<never, Caller> {
  const audited: { target?: AuditTarget } = {};
  const log = options.log.child({ correlation_id: request.id, operation: operation.operationId });
  const context = {
    caller,
    params: request.params,
    query: request.query,
    body: request.body,
    correlationId: request.id,
    log,
    request,
    reply,
    audit: (target: AuditTarget) => {
      audited.target = target;
    },
    mutate: (decide: Parameters<Context<never, Caller>['mutate']>[0]) =>
      runMutation({ db: options.db, operation, caller, request, log, audited }, decide),
  };
  return context as unknown as Context<never, Caller>;
}

function assertDocumented(
  request: FastifyRequest,
  status: number,
  body: unknown,
  check: (schema: object, value: unknown) => string | null,
): void {
  const schemas = request.routeOptions.schema?.response as
    | Record<string, { content?: Record<string, { schema?: object }> }>
    | undefined;
  const schema = schemas?.[String(status)]?.content?.['application/json']?.schema;
  if (!schema) return;
  const mismatch = check(schema, JSON.parse(JSON.stringify(body)));
  if (mismatch) throw new Error(`${request.method} ${request.routeOptions.url} ${status} breaks the contract: ${mismatch}`);
}

/** A known path with a method the contract does not declare is a 405 that names the others. */
function refuseOtherMethods(server: FastifyInstance, document: ContractDocument): void {
  for (const [path, item] of Object.entries(document.paths)) {
    const declared = METHODS.filter((method) => method.toLowerCase() in item);
    const others = METHODS.filter((method) => !declared.includes(method));
    if (others.length === 0) continue;
    server.route({
      method: others,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      // Before any body is read.
      onRequest: async (_request, reply) => {
        reply.header('allow', declared.join(', '));
        throw new Problem('method_not_allowed', `This resource answers ${declared.join(', ')}.`);
      },
      handler: () => undefined,
    });
  }
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
