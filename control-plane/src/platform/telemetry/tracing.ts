import { createHash } from 'node:crypto';
import {
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Tracer,
} from '@opentelemetry/api';
import { isUuid } from '../ids.ts';
import { sanitize } from '@gpuaas/contracts/sanitize';
import { systemClock } from '../clock.ts';

export interface RecordedSpan {
  /** A UUID is the trace id; other text is hashed to one. */
  correlationId: string;
  startedAt: Date;
  endedAt: Date;
  failed: boolean;
  /** Read only when spans are exported. */
  attributes(): Record<string, string | number | boolean | null>;
}

let tracer: Tracer | null = null;

/**
 * Exports spans if OTEL_EXPORTER_OTLP_ENDPOINT is set; without it nothing is loaded or recorded. Returns a
 * function that flushes and stops.
 */
export async function startTracing(
  role: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<() => Promise<void>> {
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!endpoint) return async () => undefined;
  const { BatchSpanProcessor, TracerProvider } = await import('@opentelemetry/sdk-trace');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] });
  tracer = provider.getTracer(`gpuaas-${role}`);
  return async () => {
    tracer = null;
    await provider.shutdown();
  };
}

/** A span of something that has ended. The correlation id is the trace id, so a launch is one trace everywhere. */
export function recordSpan(name: string, span: RecordedSpan): void {
  if (!tracer) return;
  const started = tracer.startSpan(
    name,
    { startTime: span.startedAt, attributes: clean(span) },
    traceOf(span.correlationId),
  );
  if (span.failed) started.setStatus({ code: SpanStatusCode.ERROR });
  started.end(span.endedAt);
}

/** Runs `work` inside a span; free of cost when spans are off. */
export async function traced<T>(
  name: string,
  about: { correlationId: string; attributes(): ReturnType<RecordedSpan['attributes']> },
  work: () => Promise<T>,
): Promise<T> {
  if (!tracer) return await work();
  const startedAt = systemClock.now();
  let failed = true;
  try {
    const result = await work();
    failed = false;
    return result;
  } finally {
    recordSpan(name, { ...about, startedAt, endedAt: systemClock.now(), failed });
  }
}

function clean(span: RecordedSpan): Attributes {
  const attributes = sanitize(span.attributes()) as Attributes;
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null));
}

/** All processes derive the same parent from the id, so no process must pass one to another. */
function traceOf(correlationId: string): Context {
  const traceId = isUuid(correlationId)
    ? correlationId.replaceAll('-', '').toLowerCase()
    : createHash('sha256').update(correlationId).digest('hex').slice(0, 32);
  const parent = { traceId, spanId: traceId.slice(16), traceFlags: TraceFlags.SAMPLED, isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, parent);
}
