import { setTimeout as pause } from 'node:timers/promises';
import { runQueue } from '@gpuaas/control-plane/domains/allocations/queue/run-queue';
import { reconcileAllocations } from '@gpuaas/control-plane/domains/allocations/reconcile/reconcile-allocations';
import { isConnected } from '@gpuaas/control-plane/domains/fleet/health/connection';
import { retryRelease } from '@gpuaas/control-plane/domains/allocations/cleanup/retry-cleanup';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { FleetIndex } from '@gpuaas/control-plane/domains/fleet/index/fleet-index';
import { reconcileNodes } from '@gpuaas/control-plane/domains/fleet/reconcile-nodes';
import { Problem } from '@gpuaas/control-plane/platform/http/problem';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import type { PlatformServices } from '@gpuaas/control-plane/roles/domain-answers';

export interface Ticks {
  /** How often all of it was done. */
  rounds(): number;
  stop(): Promise<void>;
}

const EVERY_MS = 500;

/** The platform's periodic work without a separate process, and an operator who confirms every wipe that waits. */
export function runTicks(services: PlatformServices, note: (what: string) => void): Ticks {
  // As in a separate process, so that it competes with the launches of the API.
  const fleetIndex = new FleetIndex(services.policies);
  const worker = servicesAsRole({ ...services, fleetIndex }, 'gpuaas_worker');
  const ticks = [reconcileAllocations, reconcileNodes()];
  const stopping = new AbortController();
  let rounds = 0;
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const now = services.clock.now();
      // The database may be down; any other fault shows when work does not come to rest.
      for (const tick of ticks) {
        await tick.run(worker, { from: now, to: now }).catch((error: unknown) => {
          note(`${tick.name}: ${String(error)}`);
        });
      }
      await confirmWipes(services).catch((error: unknown) => note(`operator: ${String(error)}`));
      await runQueue(worker).catch((error: unknown) => note(`queue: ${String(error)}`));
      rounds += 1;
      await pause(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = loop();
  return {
    rounds: () => rounds,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Every cleanup at rest whose host answers. */
async function confirmWipes(services: PlatformServices): Promise<void> {
  const rows = await services.db
    .selectFrom('allocations as a')
    .innerJoin('nodes as n', 'n.id', 'a.node_id')
    .select(['a.id', 'n.last_heartbeat_at'])
    .where((e) =>
      e.or([
        e('a.state', '=', 'release_failed'),
        e.and([e('a.state', 'in', ['released', 'failed']), e('a.execution_state', '=', 'idle')]),
      ]),
    )
    .where((e) =>
      e.exists(
        e
          .selectFrom('allocation_resource_claims as c')
          .select('c.id')
          .whereRef('c.allocation_id', '=', 'a.id')
          .where('c.released_at', 'is', null),
      ),
    )
    .execute();
  for (const { id, last_heartbeat_at } of rows) {
    if (!isConnected(services, last_heartbeat_at)) continue;
    await services.db
      .transaction()
      .execute((tx) => retryRelease(services, tx, id, newId()))
      .catch((error: unknown) => {
        // A workflow took it in the meantime.
        if (!(error instanceof Problem)) throw error;
      });
  }
}
