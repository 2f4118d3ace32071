import type { IncomingMessage } from 'node:http';
import type { App } from './app.ts';

const PREFLIGHT_SECONDS = 600;

/** A browser asks before it sends a key from a page of another origin; the question itself carries no key. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

/** The answer to a preflight as raw headers; null if the origin is not on the app's list. */
export function preflightHeaders({ corsOrigins }: App, { headers }: IncomingMessage): string[] | null {
  const { origin } = headers;
  if (origin === undefined || !corsOrigins.includes(origin)) return null;
  const asked = headers['access-control-request-headers'];
  return [
    ...['access-control-allow-origin', origin, 'vary', 'origin'],
    ...['access-control-allow-methods', 'GET, HEAD, POST, PUT, PATCH, DELETE'],
    ...(asked === undefined ? [] : ['access-control-allow-headers', asked]),
    ...['access-control-max-age', String(PREFLIGHT_SECONDS)],
  ];
}

/** Lets a page on the list read the answer to a request with a key. Cookies are never allowed. */
export function corsHeaders({ corsOrigins }: App, { headers }: IncomingMessage): string[] {
  const { origin } = headers;
  if (origin === undefined || !corsOrigins.includes(origin)) return [];
  return ['access-control-allow-origin', origin, 'vary', 'origin'];
}
