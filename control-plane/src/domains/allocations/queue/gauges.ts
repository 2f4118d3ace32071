import type { BacklogGauge } from '../../../platform/telemetry/platform-metrics.ts';

export const queueGauges: readonly BacklogGauge[] = [
  {
    name: 'gpuaas_queued_launches',
    help: 'Queued launches, by the reason they wait.',
    label: 'reason',
    query: 'select reason, count(*) from queued_launches group by reason',
  },
  {
    name: 'gpuaas_queued_launch_oldest_age_seconds',
    help: 'Longest wait in the queue so far.',
    label: 'reason',
    query: 'select reason, extract(epoch from now() - min(queued_at)) from queued_launches group by reason',
  },
];
