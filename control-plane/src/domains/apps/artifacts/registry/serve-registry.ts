import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../../../platform/auth/caller.ts';
import { DenialLog } from '../../../../platform/http/admission/denial-log.ts';
import type { OperationObject } from '../../../../platform/http/operation.ts';
import { Problem } from '../../../../platform/http/problem.ts';
import { toProblem } from '../../../../platform/http/send-problem.ts';
import type { Services } from '../../../../platform/services.ts';
import { beginUpload, serveBlob, serveUpload, type Exchange } from './blob-routes.ts';
import { challengeOf, takeBasicCredentials, tokenAnswer } from './credentials.ts';
import { serveManifest, serveReferrers, serveTags } from './manifest-routes.ts';
import { OciError, ociErrorOf, ociErrorOfStore } from './oci-error.ts';
import { operationOf, type RegistryOperation } from './operations.ts';
import { parseTarget, type Target } from './targets.ts';

export interface RegistryOptions {
  services: Services;
  publicUrl: string;
  /** Rate limits, authentication and permission, shared with the rest of the API. */
  admit(request: FastifyRequest, reply: FastifyReply, operation: OperationObject): Promise<Caller>;
}

interface Admitted {
  target: Target;
  operation: RegistryOperation;
  caller: Caller;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** The OCI registry at `/v2/`, by the distribution specification. */
export async function serveRegistry(server: FastifyInstance, options: RegistryOptions): Promise<void> {
  const { services } = options;
  const denials = new DenialLog(services.denials);
  const challenge = challengeOf(options.publicUrl);
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  await server.register(async (scope) => {
    // Handlers read bodies as streams: layers are larger than memory.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.setErrorHandler(async (error, request, reply) => {
      const known = admitted.get(request);
      if (known) await denials.unpermitted(request, known.operation, known.caller, error);
      return await sendError(services, challenge, error, request, reply);
    });
    for (const url of ['/v2', '/v2/', '/v2/*'])
      scope.route({
        method: [...METHODS],
        url,
        onRequest: async (request, reply) => {
          const target = parseTarget(request.url);
          const operation = operationOf(request.method, target);
          request.operationId = operation.operationId;
          takeBasicCredentials(request);
          const caller = await options.admit(request, reply, operation);
          request.caller = caller;
          admitted.set(request, { target, operation, caller });
        },
        handler: async (request, reply) => {
          const known = admitted.get(request);
          if (!known) throw new Error('a request of the registry was not admitted');
          reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
          const query = new URLSearchParams(request.url.split('?').slice(1).join('?'));
          return await serve({ services, ...known, query, request, reply });
        },
      });
  });
}

async function serve(exchange: Exchange<Target>) {
  const { target, reply, request } = exchange;
  switch (target.kind) {
    case 'version':
      reply.header('docker-distribution-api-version', 'registry/2.0');
      return await reply.type('application/json').send('{}');
    case 'token':
      return await reply.type('application/json').send(JSON.stringify(tokenAnswer(request)));
    case 'uploads':
      return await beginUpload({ ...exchange, target });
    case 'upload':
      return await serveUpload({ ...exchange, target });
    case 'blob':
      return await serveBlob({ ...exchange, target });
    case 'manifest':
      return await serveManifest({ ...exchange, target });
    case 'tags':
      return await serveTags({ ...exchange, target });
    case 'referrers':
      return await serveReferrers({ ...exchange, target });
  }
}

async function sendError(
  { log }: Services,
  challenge: string,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const refusal =
    error instanceof OciError
      ? error
      : (ociErrorOfStore(error) ?? ociErrorOf(toProblem(error, log, request)));
  if (refusal.status === 401) reply.header('www-authenticate', challenge);
  const retryAfter = error instanceof Problem ? error.options.retryAfterSeconds : undefined;
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  // An unread body must not be parsed as the next request.
  if (!request.raw.complete) reply.header('connection', 'close');
  for (const name of ['content-length', 'content-range', 'docker-content-digest', 'etag'])
    reply.removeHeader(name);
  return await reply
    .code(refusal.status)
    .header('cache-control', 'no-store')
    .type('application/json')
    .send(JSON.stringify(refusal.toJson()));
}
