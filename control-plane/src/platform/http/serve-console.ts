import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { answerProblem } from './errors.ts';
import { Problem } from './problem.ts';

const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self' ws: wss:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const NOT_PAGES = /^\/(api|auth|idp|node|docs|openapi\.json|metrics|healthz|readyz|assets)(\/|$|\?)/;

/** The built console with a strict CSP; unknown paths are its own routes, except those of the API. */
export async function serveConsole(server: FastifyInstance, folder: string): Promise<void> {
  await server.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply) => {
      reply.header('content-security-policy', CONTENT_SECURITY_POLICY);
      reply.header('x-content-type-options', 'nosniff');
      reply.header('referrer-policy', 'no-referrer');
    });
    await scope.register(fastifyStatic, {
      root: folder,
      wildcard: false,
      setHeaders: (reply, path) => {
        const hashed = path.startsWith(join(folder, 'assets'));
        void reply.header('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache');
      },
    });
    scope.get('/*', async (request, reply) => {
      if (NOT_PAGES.test(request.url)) {
        return await answerProblem(
          new Problem('not_found', 'There is nothing at this path.'),
          request,
          reply,
        );
      }
      return await reply.header('cache-control', 'no-cache').sendFile('index.html');
    });
  });
}
