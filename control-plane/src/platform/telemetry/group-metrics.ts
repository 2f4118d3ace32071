import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Counter, Histogram, type Registry } from 'prom-client';
import {
  GROUPS_CHANNEL,
  LEFT_CHANNEL,
  RECONSIDERED_CHANNEL,
  type GroupLeft,
  type GroupReconsidered,
  type GroupSeen,
} from '../group-commit.ts';

/** How large the groups of each desk are, how long the first of a group has waited, how they end, and who left them. */
export function measureGroups(registry: Registry): () => void {
  const sizes = new Histogram({
    name: 'gpuaas_group_size',
    help: 'Requests that were served together, by desk and outcome.',
    labelNames: ['desk', 'outcome'],
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers: [registry],
  });
  const waits = new Histogram({
    name: 'gpuaas_group_wait_seconds',
    help: 'How long the first request of a group waited until the group began, by desk.',
    labelNames: ['desk'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers: [registry],
  });
  const left = new Counter({
    name: 'gpuaas_group_left_total',
    help: 'Requests that no group could decide, so that each was decided alone, by desk and reason.',
    labelNames: ['desk', 'reason'],
    registers: [registry],
  });
  const reconsidered = new Counter({
    name: 'gpuaas_group_reconsidered_total',
    help: 'Requests whose group was decided once more, with care, because something had changed under it, by desk.',
    labelNames: ['desk'],
    registers: [registry],
  });
  const observe = (message: unknown): void => {
    const { desk, size, waitedMs, failed } = message as GroupSeen;
    sizes.observe({ desk, outcome: failed ? 'failed' : 'served' }, size);
    waits.observe({ desk }, waitedMs / 1000);
  };
  const count = (message: unknown): void => left.inc(message as GroupLeft);
  subscribe(GROUPS_CHANNEL, observe);
  const again = (message: unknown): void => {
    const { desk, size } = message as GroupReconsidered;
    reconsidered.inc({ desk }, size);
  };
  subscribe(LEFT_CHANNEL, count);
  subscribe(RECONSIDERED_CHANNEL, again);
  return () => {
    unsubscribe(GROUPS_CHANNEL, observe);
    unsubscribe(LEFT_CHANNEL, count);
    unsubscribe(RECONSIDERED_CHANNEL, again);
  };
}
