import { servicesAsRole } from '../platform/db/scope.ts';
import { assertConsumersKeepUp, listConsumerLag } from '../platform/events/consumer-lag.ts';
import type { Bus } from '../platform/events/consumer.ts';
import { RELAY } from '../platform/events/nats-relay.ts';
import type { Readiness, ReadinessCheck } from '../platform/http/probes/readiness.ts';
import type { Services } from '../platform/services.ts';
import { assertWorkersAlive } from '../platform/workflows/workers-alive.ts';

/** An event that waits longer than this for a consumer makes the platform not ready. */
const MAX_LAG_SECONDS = 60;

export function databaseReadiness({ database }: Services): ReadinessCheck {
  return {
    name: 'database',
    check: async () => void (await database.pool.query('select 1')),
  };
}

/** How events reach this process: through NATS, or woken by PostgreSQL. */
export function busReadiness(bus: Pick<Bus, 'kind' | 'check'>): ReadinessCheck {
  return { name: 'bus', check: async () => `${bus.kind}: ${await bus.check()}` };
}

/**
 * Checks of other processes that the platform needs. With `decide` false a process only shows them: an API
 * replica that left its load balancer because the workers are down would only add to the damage.
 */
export function addSharedReadinessChecks(
  readiness: Readiness,
  base: Services,
  options: { natsUrl: string | null; decide: boolean },
): void {
  const { db } = servicesAsRole(base, 'gpuaas_relay');
  const { decide } = options;
  readiness.add({
    name: 'workflows',
    decides: decide,
    check: () => assertWorkersAlive(servicesAsRole(base, 'gpuaas_worker').db),
  });
  readiness.add({
    name: 'event consumers',
    decides: decide,
    check: () => assertConsumersKeepUp(db, MAX_LAG_SECONDS, { except: RELAY }),
  });
  if (options.natsUrl) readiness.add(relayLagReadiness(base, decide));
}

/** Lag of NATS behind the log, whichever process runs the relay. */
export function relayLagReadiness(base: Services, decides: boolean): ReadinessCheck {
  const { db } = servicesAsRole(base, 'gpuaas_relay');
  return {
    name: 'relay lag',
    decides,
    async check() {
      const relay = (await listConsumerLag(db)).find(({ name }) => name === RELAY);
      if (!relay) throw new Error('no relay has run yet');
      const { runner, secondsBehind, eventsBehind, lastError } = relay;
      const behind = `${secondsBehind.toFixed(1)} s and ${eventsBehind} events behind`;
      const why = lastError ? ` (${lastError})` : '';
      if (!runner) throw new Error(`no process runs the relay; it is ${behind}${why}`);
      if (secondsBehind > MAX_LAG_SECONDS) throw new Error(`${behind}${why}`);
      return behind;
    },
  };
}
