import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '../problem.ts';

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/**
 * Metrics are for operators: with GPUAAS_METRICS_TOKEN set they need it as a bearer token; without it, only a
 * scraper on this machine that came through no proxy gets them.
 */
export function metricsAccess(
  token: string | undefined,
): (request: { headers: IncomingHttpHeaders; ip: string }) => void {
  return (request) => {
    const { authorization, forwarded } = request.headers;
    const proxied = forwarded !== undefined || request.headers['x-forwarded-for'] !== undefined;
    const allowed = token
      ? equal(authorization ?? '', `Bearer ${token}`)
      : !proxied && LOOPBACK.has(request.ip);
    if (!allowed) throw new Problem('unauthenticated', 'Metrics need the token of GPUAAS_METRICS_TOKEN.');
  };
}

function equal(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
