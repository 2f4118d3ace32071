import { actingAs } from '../platform/db/scope.ts';
import { assertConsumersKeepUp, listConsumerLag } from '../platform/events/consumer-lag.ts';
import type { Bus } from '../platform/events/consumer.ts';
import { RELAY } from '../platform/events/nats-relay.ts';
import type { Readiness, ReadinessPart } from '../platform/http/readiness.ts';
import type { Services } from '../platform/services.ts';
import { assertWorkersAlive } from '../platform/workflows/workers-alive.ts';

/** An event that waits longer than this for a consumer makes the platform not ready. */
const MAX_LAG_SECONDS = 60;

export function databasePart({ database }: Services): ReadinessPart {
  return {
    name: 'database',
    check: async () => void (await database.pool.query('select 1')),
  };
}

/** How events reach this process: through NATS, or woken by PostgreSQL. */
export function busPart(bus: Pick<Bus, 'kind' | 'check'>): ReadinessPart {
  return { name: 'bus', check: async () => `${bus.kind}: ${await bus.check()}` };
}

/**
 * What other processes must do for the platform to be whole. Where `decide` is false a process shows them and serves
 * on: an API replica that left its load balancer because the workers are gone would only add to the damage.
 */
export function addSharedParts(
  readiness: Readiness,
  base: Services,
  options: { natsUrl: string | null; decide: boolean },
): void {
  const { db } = actingAs(base, 'gpuaas_relay');
  const { decide } = options;
  readiness.add({
    name: 'workflows',
    decides: decide,
    check: () => assertWorkersAlive(actingAs(base, 'gpuaas_worker').db),
  });
  readiness.add({
    name: 'event consumers',
    decides: decide,
    check: () => assertConsumersKeepUp(db, MAX_LAG_SECONDS, { except: RELAY }),
  });
  if (options.natsUrl) readiness.add(relayLagPart(base, decide));
}

/** How far NATS is behind the log, whichever process runs the relay. */
export function relayLagPart(base: Services, decides: boolean): ReadinessPart {
  const { db } = actingAs(base, 'gpuaas_relay');
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
