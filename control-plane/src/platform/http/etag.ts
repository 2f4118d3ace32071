import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { FastifyRequest } from 'fastify';
import { Problem } from './problem.ts';

/** Strong entity tag of a representation: equal JSON, equal tag, in every process. */
export function etagOf(representation: unknown): string {
  const hash = createHash('sha256').update(canonicalize(representation) ?? '');
  return `"${hash.digest('base64url').slice(0, 22)}"`;
}

/**
 * Throws `precondition_failed` if the caller saw another version than `current`. Call it inside the
 * transaction, after locking the row.
 */
export function requireIfMatch(request: FastifyRequest, current: unknown): void {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return;
  const etag = etagOf(current);
  // Strong comparison: a weak tag never matches.
  if (header.split(',').some((tag) => tag.trim() === etag)) return;
  throw new Problem(
    'precondition_failed',
    'The resource has changed since you read it; read it again and repeat the edit.',
    {
      extensions: { current_etag: etag },
    },
  );
}
