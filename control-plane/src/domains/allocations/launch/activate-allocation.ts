import type { Services } from '../../../platform/services.ts';
import { startMeter } from '../../billing/metering/start-meter.ts';
import { emitSlotsChanged } from '../../fleet/slots/transition-slots.ts';
import { emitAllocation } from '../../timeline/allocation-events.ts';
import { atRest } from '../execution.ts';
import { hostOf, lockAllocation, transitionAllocation } from '../transition-allocation.ts';
import { shapeOf } from '../shapes/shape-of.ts';

const PASSED_CHECKS = {
  state: 'healthy',
  detail: 'The machine on it passed its readiness checks.',
} as const;

/**
 * The machine is ready: the tenant can use it and billing starts. Does nothing if an operator ended the
 * allocation meanwhile.
 */
export async function activateAllocation(
  services: Services,
  allocationId: string,
  output: unknown,
): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const current = await lockAllocation(tx, allocationId);
    if (current.state !== 'provisioning') return;
    const delivery = shapeOf(current).delivery(current, output);
    const moved = await transitionAllocation(tx, current, 'active', {
      observed_state: 'running',
      ...atRest(),
      active_at: services.clock.now(),
      connection: JSON.stringify(delivery.connection),
      machine_boot_id: delivery.bootId,
      machine_started_at: delivery.startedAt,
    });
    if (!moved) return;
    await startMeter(tx, moved);
    await shapeOf(moved).occupy(tx, moved, PASSED_CHECKS);
    await emitAllocation(tx, 'allocation.active', moved, {
      stage: 'active',
      status: 'done',
      message: 'The machine answers; billing has started',
      percent: 100,
    });
    await emitSlotsChanged(tx, hostOf(moved), moved.correlation_id);
  });
}
