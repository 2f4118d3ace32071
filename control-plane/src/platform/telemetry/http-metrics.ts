import { Histogram, type Registry } from 'prom-client';

/** Rates and latencies by operation and status. No label comes from a caller. */
export class HttpMetrics {
  readonly #durations: Histogram<'api' | 'operation' | 'status'>;

  constructor(registry: Registry) {
    this.#durations = new Histogram({
      name: 'gpuaas_http_request_duration_seconds',
      help: 'Time from the request to the end of its answer, by operation of the contract.',
      labelNames: ['api', 'operation', 'status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers: [registry],
    });
  }

  observe(api: string, operation: string, status: number, seconds: number): void {
    this.#durations.observe({ api, operation, status }, seconds);
  }
}
