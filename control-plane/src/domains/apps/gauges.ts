import type { BacklogGauge } from '../../platform/telemetry/platform-metrics.ts';

export const appGauges: readonly BacklogGauge[] = [
  {
    name: 'gpuaas_app_instances',
    help: 'App instances that have not ended, by status.',
    label: 'status',
    query: 'select status, count(*) from app_instances where ended_at is null group by status',
  },
  {
    name: 'gpuaas_app_instance_overdue_seconds',
    help: 'How long the move of an app instance is overdue at most, by status.',
    label: 'status',
    query: `select status, extract(epoch from now() - min(due_at)) from app_instances
      where ended_at is null and due_at < now() group by status`,
  },
];
