import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { sanitizeText } from '@gpuaas/contracts/sanitize';
import type { FailingTick } from '../../platform/ticks/tick-runner.ts';
import type { FailedWorkflow } from '../../platform/workflows/engine.ts';
import type { LostExecutor } from '../../platform/workflows/sweeper.ts';
import { openIncident } from './open-incident.ts';

/** Once a tick has failed this often in a row it will hardly mend itself. */
const FAILING_ATTEMPTS = 3;

/** One incident per host: a worker that dies again and again is one problem. */
export async function reportLostWorkers({ clock }: Services, tx: Tx, lost: LostExecutor[]): Promise<void> {
  for (const { executorId, host, lastHeartbeatAt } of lost) {
    await openIncident(tx, clock.now(), {
      type: 'worker_lost',
      targetType: 'worker',
      targetId: executorId,
      dedupeBy: host || executorId,
      summary: `The worker ${executorId} stopped without saying so; others have taken its work.`,
      detail: { host, last_heartbeat_at: lastHeartbeatAt.toISOString() },
    });
  }
}

export async function reportFailedWorkflow(services: Services, failed: FailedWorkflow): Promise<void> {
  const { workflowId, name, error } = failed;
  await open(services, {
    type: 'workflow_failed',
    targetType: 'workflow',
    targetId: workflowId,
    summary: `${name} gave up: ${reasonOf(error)}`,
    detail: { name },
  });
}

export async function reportFailingTick(
  services: Services,
  { tick, attempts, error }: FailingTick,
): Promise<void> {
  if (attempts < FAILING_ATTEMPTS) return;
  await open(services, {
    type: 'tick_failing',
    targetType: 'tick',
    targetId: tick,
    summary: `${tick} failed ${attempts} times in a row: ${reasonOf(error)}`,
    detail: { attempts },
  });
}

async function open(services: Services, incident: Parameters<typeof openIncident>[2]): Promise<void> {
  await services.db.transaction().execute((tx) => openIncident(tx, services.clock.now(), incident));
}

function reasonOf(error: unknown): string {
  return sanitizeText(error instanceof Error ? error.message : String(error)).slice(0, 300);
}
