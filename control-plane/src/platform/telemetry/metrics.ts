import { Registry } from 'prom-client';
import type { Database } from '../db/database.ts';
import { measureBlobs } from './blob-metrics.ts';
import { measureBatches } from './batch-metrics.ts';
import { HttpMetrics } from './http-metrics.ts';
import type { Logger } from './logger.ts';
import { PlatformMetrics, type BacklogGauge } from './platform-metrics.ts';
import { measureProcess } from './process-metrics.ts';
import { StreamMetrics } from './stream-metrics.ts';

export interface Metrics {
  http: HttpMetrics;
  streams: StreamMetrics;
  /** The Prometheus text format. */
  render(): Promise<string>;
  stop(): void;
}

/** The measurements of one process. */
export function createMetrics(
  database: Database,
  log: Logger,
  /** Backlogs of domains. */
  gauges: readonly BacklogGauge[],
): Metrics {
  const { db } = database;
  const registry = new Registry();
  const http = new HttpMetrics(registry);
  const streams = new StreamMetrics(registry);
  const platform = new PlatformMetrics(registry, db, log, gauges);
  const stops = [measureProcess(registry, database), measureBatches(registry), measureBlobs(registry)];
  return {
    http,
    streams,
    async render() {
      await platform.refresh();
      return await registry.metrics();
    },
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}
