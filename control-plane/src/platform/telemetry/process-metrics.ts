import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../db/database.ts';

/** What this process is doing: event loop, memory, database connections. Returns the way to stop measuring. */
export function measureProcess(registry: Registry, database: Database): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const lag = new Gauge({
    name: 'gpuaas_event_loop_lag_seconds',
    help: 'Delay of the event loop since the last scrape.',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      for (const quantile of [50, 99])
        lag.set({ quantile: quantile / 100 }, delay.percentile(quantile) / 1e9);
      lag.set({ quantile: 1 }, delay.max / 1e9);
      delay.reset();
    },
  });
  void new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    registers: [registry],
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  const connections = new Gauge({
    name: 'gpuaas_db_pool_connections',
    help: 'Database connections of this process, and requests that wait for one.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(database.connections())) connections.set({ state }, count);
    },
  });
  return () => delay.disable();
}
