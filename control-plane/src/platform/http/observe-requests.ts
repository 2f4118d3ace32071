import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HttpMetrics } from '../telemetry/http-metrics.ts';
import type { Logger } from '../telemetry/logger.ts';
import { recordSpan } from '../telemetry/tracing.ts';
import { systemClock } from '../clock.ts';

interface Observation {
  name: 'public' | 'node';
  log: Logger;
  metrics?: HttpMetrics;
  /** Version of the contract, so that clients of another release can notice. */
  version: string;
}

/**
 * Adds correlation id and release to every response; writes one log line, one measurement and, if enabled,
 * one span per request.
 */
export function observeRequests(server: FastifyInstance, { name, log, metrics, version }: Observation): void {
  server.decorateRequest('caller', null);
  server.decorateRequest('operationId', null);
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-correlation-id', request.id).header('x-gpuaas-version', version);
    done();
  });
  server.addHook('onResponse', (request, reply, done) => {
    const seconds = reply.elapsedTime / 1000;
    metrics?.observe(name, request.operationId ?? 'none', reply.statusCode, seconds);
    const level = levelOf(name, request, reply);
    if (log.isLevelEnabled(level)) log[level](lineOf(request, reply), 'request');
    const endedAt = systemClock.now();
    recordSpan(`${request.method} ${routeOf(request)}`, {
      correlationId: request.id,
      startedAt: new Date(endedAt.getTime() - reply.elapsedTime),
      endedAt,
      failed: reply.statusCode >= 500,
      attributes: () => lineOf(request, reply),
    });
    done();
  });
}

function lineOf(request: FastifyRequest, reply: FastifyReply): Record<string, string | number | null> {
  return {
    method: request.method,
    route: routeOf(request),
    operation: request.operationId,
    status: reply.statusCode,
    duration_ms: Math.round(reply.elapsedTime * 10) / 10,
    correlation_id: request.id,
    caller_id: request.caller?.id ?? null,
  };
}

/** The route, never the URL: paths and queries contain data of callers. */
function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? '(none)';
}

/** Probes and agents call all the time; their successes are logged at debug level only. */
function levelOf(
  name: 'public' | 'node',
  request: FastifyRequest,
  reply: FastifyReply,
): 'debug' | 'info' | 'warn' | 'error' {
  if (reply.statusCode >= 500) return request.operationId === 'getReadiness' ? 'info' : 'error';
  if (reply.statusCode === 401 || reply.statusCode === 403 || reply.statusCode === 429) return 'warn';
  if (reply.statusCode >= 400) return 'info';
  return name === 'node' || isProbe(request) ? 'debug' : 'info';
}

function isProbe(request: FastifyRequest): boolean {
  return (
    request.operationId === 'getHealth' ||
    request.operationId === 'getReadiness' ||
    request.operationId === 'getMetrics'
  );
}
