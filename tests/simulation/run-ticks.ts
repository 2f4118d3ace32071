import { setTimeout as pause } from 'node:timers/promises';
import { runQueue } from '@gpuaas/control-plane/domains/allocations/queue/run-queue';
import { reconcileAllocations } from '@gpuaas/control-plane/domains/allocations/reconcile/reconcile-allocations';
import { reconcileNodes } from '@gpuaas/control-plane/domains/fleet/reconcile-nodes';
import { actingAs } from '@gpuaas/control-plane/platform/db/scope';
import type { Services } from '@gpuaas/control-plane/platform/services';

export interface Ticks {
  /** How often all of it was done. */
  rounds(): number;
  stop(): Promise<void>;
}

const EVERY_MS = 500;

/** The platform's periodic work where it has no process of its own; what was blocked is cleaned again at once. */
export function runTicks(services: Services, note: (what: string) => void): Ticks {
  const policies: Services['policies'] = {
    get: (key, scope) =>
      (key === 'allocations.cleanup_again_after_seconds' ? 0 : services.policies.get(key, scope)) as never,
    explain: (key, scope, own) => services.policies.explain(key, scope, own),
    refresh: () => services.policies.refresh(),
  };
  const worker = actingAs({ ...services, policies }, 'gpuaas_worker');
  const ticks = [reconcileAllocations, reconcileNodes()];
  const stopping = new AbortController();
  let rounds = 0;
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const now = services.clock.now();
      // The database may be away; whatever else goes wrong shows when nothing comes to rest.
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
