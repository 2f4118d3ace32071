import type { FastifyInstance } from 'fastify';
import type { ContractDocument } from './operation.ts';
import { Problem } from './problem.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Answers an undeclared method of a known path with 405 and the declared methods. */
export function refuseUndeclaredMethods(server: FastifyInstance, document: ContractDocument): void {
  for (const [path, item] of Object.entries(document.paths)) {
    // GET operations also answer HEAD.
    const declared = METHODS.filter((method) => (method === 'HEAD' ? 'get' : method.toLowerCase()) in item);
    server.route({
      method: METHODS.filter((method) => !declared.includes(method)),
      url: routePath(path),
      // Runs before any body is read.
      onRequest: async (_request, reply) => {
        reply.header('allow', declared.join(', '));
        throw new Problem('method_not_allowed', `This resource answers ${declared.join(', ')}.`);
      },
      handler: () => undefined,
    });
  }
}

function routePath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
