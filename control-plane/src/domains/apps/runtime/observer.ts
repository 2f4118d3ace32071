import { limitConcurrency } from '../../../platform/limit-concurrency.ts';
import { repeat, type RepeatHandle } from '../../../platform/repeat.ts';
import { claimMachines } from './claim-machines.ts';
import { observeMachine } from './observe-machine.ts';
import type { RuntimeServices } from './runtime-services.ts';

const CLAIM_MS = 1000;
/** Members that one claim takes; the next one follows a second later. */
const CLAIMED = 200;
/** Machines that are looked at concurrently: one that does not answer holds nobody up. */
const MACHINES = 32;

/**
 * Looks at members whose time has come. Any number of processes may run one. An observation that takes longer than the interval
 * does not start again before it ends.
 */
export function startObserver(services: RuntimeServices): RepeatHandle {
  const { db, policies, log } = services;
  const turn = limitConcurrency(MACHINES);
  const busy = new Set<string>();
  const looks = new Set<Promise<void>>();
  const look = async (allocationId: string, due: Parameters<typeof observeMachine>[2]): Promise<void> => {
    busy.add(allocationId);
    try {
      await turn(() => observeMachine(services, allocationId, due));
    } catch (error) {
      log.warn({ err: error, allocation_id: allocationId }, 'members could not be observed');
    } finally {
      busy.delete(allocationId);
    }
  };
  const claims = repeat(
    CLAIM_MS,
    async () => {
      const intervalSeconds = policies.get('apps.observe_interval_seconds');
      for (const [allocationId, due] of await claimMachines(db, { limit: CLAIMED, intervalSeconds })) {
        if (busy.has(allocationId)) continue;
        const running = look(allocationId, due).finally(() => looks.delete(running));
        looks.add(running);
      }
    },
    (error) => log.warn({ err: error }, 'due members could not be claimed'),
  );
  return {
    async stop() {
      await claims.stop();
      await Promise.all(looks);
    },
  };
}
