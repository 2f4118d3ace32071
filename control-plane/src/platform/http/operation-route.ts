import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { isRecord } from '@gpuaas/contracts/is-record';
import type { Denials } from '../audit/denials.ts';
import type { Db } from '../db/database.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { CallerIdentity } from './caller-identity.ts';
import { createContext } from './context.ts';
import type { DenialLog } from './admission/denial-log.ts';
import type { CheckCreation } from './creation-limits.ts';
import { etagOf } from './etag.ts';
import type { GracefulStop } from './graceful-stop.ts';
import { HIJACKED, type Handler, type OperationObject } from './operation.ts';
import { Problem } from './problem.ts';
import { requireDeclaredBody } from './strict-body.ts';

export interface RouteSettings<Caller extends CallerIdentity> {
  handlers: Record<string, Handler<never, Caller>>;
  admit(request: FastifyRequest, reply: FastifyReply, operation: OperationObject): Promise<Caller>;
  denials: DenialLog;
  denied: Denials;
  checkCreation?: CheckCreation | undefined;
  graceful: GracefulStop;
  db: Db;
  log: Logger;
  /** In tests: compares the head of a stream with the contract. */
  checkStream: ((request: FastifyRequest, reply: FastifyReply) => void) | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the request is admitted. */
    caller: CallerIdentity | null;
    operationId: string | null;
    /** The operation verifies a signature over the raw bytes. */
    keepsRawBody?: boolean;
    /** Counts a refused body; set for operations with a body. */
    chargeForBody?: (bytes: number) => void;
    /** Size of the body that was read. */
    bodyBytes?: number;
    rawBody?: string;
  }
}

/** Route of one operation: admission, strict body, handler, declared response. */
export function operationRoute<Caller extends CallerIdentity>(
  settings: RouteSettings<Caller>,
  operation: OperationObject,
): RouteOptions {
  const handler = settings.handlers[operation.operationId];
  if (!handler) throw new Error(`operation ${operation.operationId} has no handler`);
  const needsPermission = operation['x-permission'] !== undefined && operation['x-permission'] !== 'self';
  const tagged = statusesWithEtag(operation);
  const route = {
    ...bodyLimitOf(operation),
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      request.operationId = operation.operationId;
      if (operation['x-raw-body']) request.keepsRawBody = true;
      request.caller = await settings.admit(request, reply, operation);
    },
    onResponse: async (request: FastifyRequest, reply: FastifyReply) => {
      if (REFUSED.has(reply.statusCode)) request.chargeForBody?.(bodyBytes(request, operation));
    },
    preValidation: async (request: FastifyRequest) => {
      requireDeclaredBody(request, operation);
      if (operation.security?.length !== 0) refuseUnknownQuery(request, operation);
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const caller = request.caller as Caller;
      const context = createContext(settings, operation, caller, request, reply);
      let answer: Awaited<ReturnType<typeof handler>>;
      try {
        answer = await handler(context);
      } catch (error) {
        await settings.denials.read(request, operation, caller, error);
        throw error;
      }
      if (answer === HIJACKED) {
        settings.graceful.track(reply.raw);
        settings.checkStream?.(request, reply);
        return reply;
      }
      const { status, body, location, mediaType } = answer;
      if (needsPermission && !caller.authorised) {
        throw new Error(`operation ${operation.operationId} answered without checking a permission`);
      }
      // Responses are private to the caller.
      reply.header('cache-control', 'no-store');
      reply.header('x-content-type-options', 'nosniff');
      if (location) reply.header('location', location);
      if (tagged.has(status)) reply.header('etag', etagOf(taggedPart(operation, body)));
      if (mediaType) reply.type(mediaType);
      return reply.code(status).send(body);
    },
  };
  // The rest of the route comes from the contract.
  return route as unknown as RouteOptions;
}

/** A mistyped filter must not be ignored. Public operations are redirect targets and ignore unknown parameters. */
function refuseUnknownQuery(request: FastifyRequest, operation: OperationObject): void {
  const names = Object.keys(request.query as object);
  if (names.length === 0) return;
  const schema = request.routeOptions.schema?.querystring as { properties?: object } | undefined;
  const known = schema?.properties ?? {};
  const unknown = names.filter((name) => !Object.hasOwn(known, name));
  if (unknown.length === 0) return;
  throw new Problem('invalid_request', `${operation.operationId} knows no such query parameter.`, {
    errors: unknown.map((name) => ({
      pointer: `/querystring/${name.slice(0, 100)}`,
      code: 'unknown_field',
      detail: 'is not a known parameter',
    })),
  });
}

function statusesWithEtag(operation: OperationObject): Set<number> {
  const tagged = Object.entries(operation.responses).filter(([, response]) => response.headers?.['ETag']);
  return new Set(tagged.map(([status]) => Number(status)));
}

/** The body was refused after it was read: it cost the read and changed nothing. */
const REFUSED: ReadonlySet<number> = new Set([400, 403, 404, 413, 415, 422]);

/** The size that was read, or declared if nothing was read; never more than the limit. */
function bodyBytes({ bodyBytes: read, headers }: FastifyRequest, operation: OperationObject): number {
  const limit = operation['x-max-body-bytes'] ?? 0;
  return Math.min(read ?? Number(headers['content-length'] ?? limit), limit);
}

/** The document's limit applies to operations that declare none. */
function bodyLimitOf(operation: OperationObject): { bodyLimit?: number } {
  const bytes = operation['x-max-body-bytes'];
  return bytes === undefined ? {} : { bodyLimit: bytes };
}

function taggedPart(operation: OperationObject, body: unknown): unknown {
  const fields = operation['x-etag-fields'];
  if (!fields) return body;
  if (!isRecord(body)) throw new Error('an answer with x-etag-fields must be an object');
  return Object.fromEntries(fields.map((field) => [field, body[field]]));
}
