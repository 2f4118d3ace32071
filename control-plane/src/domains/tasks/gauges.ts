import type { BacklogGauge } from '../../platform/telemetry/platform-metrics.ts';

export const taskGauges: readonly BacklogGauge[] = [
  {
    name: 'gpuaas_node_tasks_open',
    help: 'Node tasks that are queued or claimed.',
    label: 'state',
    query: `select state, count(*) from node_tasks where state in ('queued', 'claimed') group by state`,
  },
];
