import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { sendProblem } from './send-problem.ts';
import { Problem } from './problem.ts';

/** The console connects to its own origin only; some browsers do not count its WebSockets as `'self'`. */
function contentSecurityPolicy(publicUrl: string): string {
  return [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' ${new URL(publicUrl).origin.replace(/^http/, 'ws')}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const NOT_PAGES = /^\/(api|auth|idp|node|docs|openapi\.json|metrics|healthz|readyz|assets)(\/|$|\?)/;

/** A file that a crawler or a browser asks for; no page of the console has a dot in its last part. */
const FILE = /\.(txt|xml|json|ico|png|js|css|map|php|env)(\?|$)/;

/**
 * Serves the built console with a strict CSP; unknown paths are routes of the console, except those of the
 * API.
 */
export async function serveConsole(
  server: FastifyInstance,
  folder: string,
  publicUrl: string,
): Promise<void> {
  const policy = contentSecurityPolicy(publicUrl);
  await server.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply) => {
      reply.header('content-security-policy', policy);
      reply.header('x-content-type-options', 'nosniff');
      reply.header('referrer-policy', 'no-referrer');
    });
    await scope.register(fastifyStatic, {
      root: folder,
      wildcard: false,
      // The build holds a .br and a .gz of every text file.
      preCompressed: true,
      setHeaders: (reply, path) => {
        const hashed = path.startsWith(join(folder, 'assets'));
        void reply.header('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache');
      },
    });
    scope.get('/*', async (request, reply) => {
      if (NOT_PAGES.test(request.url) || FILE.test(request.url)) {
        return await sendProblem(new Problem('not_found', 'This path does not exist.'), request, reply);
      }
      return await reply.header('cache-control', 'no-cache').sendFile('index.html');
    });
  });
}
