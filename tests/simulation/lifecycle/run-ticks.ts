import { setTimeout as pause } from 'node:timers/promises';
import { runQueue } from '@gpuaas/control-plane/domains/allocations/queue/run-queue';
import { reconcileAllocations } from '@gpuaas/control-plane/domains/allocations/reconcile/reconcile-allocations';
import { FleetIndex } from '@gpuaas/control-plane/domains/fleet/index/fleet-index';
import { reconcileNodes } from '@gpuaas/control-plane/domains/fleet/reconcile-nodes';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import type { PlatformServices } from '@gpuaas/control-plane/roles/domain-answers';

export interface Ticks {
  /** How often all of it was done. */
  rounds(): number;
  stop(): Promise<void>;
}

const EVERY_MS = 500;

/** The platform's periodic work without a separate process; blocked slots are cleaned again immediately. */
export function runTicks(services: PlatformServices, note: (what: string) => void): Ticks {
  const policies: PlatformServices['policies'] = {
    get: (key, scope) =>
      (key === 'allocations.cleanup_again_after_seconds' ? 0 : services.policies.get(key, scope)) as never,
    explain: (key, scope, own) => services.policies.explain(key, scope, own),
    refresh: () => services.policies.refresh(),
  };
  // As in a separate process, so that it competes with the launches of the API.
  const fleetIndex = new FleetIndex(policies);
  const worker = servicesAsRole({ ...services, policies, fleetIndex }, 'gpuaas_worker');
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
