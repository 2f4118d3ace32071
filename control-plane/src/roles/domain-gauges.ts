import { queueGauges } from '../domains/allocations/queue/gauges.ts';
import { appGauges } from '../domains/apps/gauges.ts';
import { emailGauges } from '../domains/notifications/gauges.ts';
import { taskGauges } from '../domains/tasks/gauges.ts';
import type { BacklogGauge } from '../platform/telemetry/platform-metrics.ts';

/**
 * Backlogs of domains. Separate from the modules: every process shows them, also one that runs nothing of a
 * domain.
 */
export const domainGauges: readonly BacklogGauge[] = [
  ...taskGauges,
  ...queueGauges,
  ...appGauges,
  ...emailGauges,
];
