import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Counter, Histogram, type Registry } from 'prom-client';
import {
  BATCHES_CHANNEL,
  EJECTED_CHANNEL,
  RETRIED_BATCHES_CHANNEL,
  type BatchEjection,
  type BatchRetried,
  type BatchFinished,
} from '../batcher.ts';

/** Size, wait time and outcome of batches per batcher, and requests that left them. */
export function measureBatches(registry: Registry): () => void {
  const sizes = new Histogram({
    name: 'gpuaas_group_size',
    help: 'Requests per batch, by batcher and outcome.',
    labelNames: ['batch', 'outcome'],
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers: [registry],
  });
  const waits = new Histogram({
    name: 'gpuaas_group_wait_seconds',
    help: 'Wait of the first request of a batch until the batch started, by batcher.',
    labelNames: ['batch'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers: [registry],
  });
  const left = new Counter({
    name: 'gpuaas_group_left_total',
    help: 'Requests that left their batch and were decided individually, by batcher and reason.',
    labelNames: ['batch', 'reason'],
    registers: [registry],
  });
  const reconsidered = new Counter({
    name: 'gpuaas_group_reconsidered_total',
    help: 'Requests of batches retried on the slow path after a conflict, by batcher.',
    labelNames: ['batch'],
    registers: [registry],
  });
  const observe = (message: unknown): void => {
    const { batch, size, waitedMs, failed } = message as BatchFinished;
    sizes.observe({ batch, outcome: failed ? 'failed' : 'served' }, size);
    waits.observe({ batch }, waitedMs / 1000);
  };
  const count = (message: unknown): void => left.inc(message as BatchEjection);
  subscribe(BATCHES_CHANNEL, observe);
  const again = (message: unknown): void => {
    const { batch, size } = message as BatchRetried;
    reconsidered.inc({ batch }, size);
  };
  subscribe(EJECTED_CHANNEL, count);
  subscribe(RETRIED_BATCHES_CHANNEL, again);
  return () => {
    unsubscribe(BATCHES_CHANNEL, observe);
    unsubscribe(EJECTED_CHANNEL, count);
    unsubscribe(RETRIED_BATCHES_CHANNEL, again);
  };
}
