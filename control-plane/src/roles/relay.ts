import { servicesAsRole } from '../platform/db/scope.ts';
import { assertLogIsReadable } from '../platform/events/event-log.ts';
import { startRelay as startNatsRelay, type Relay } from '../platform/events/nats-relay.ts';
import type { Services } from '../platform/services.ts';
import { createMetrics } from '../platform/telemetry/metrics.ts';
import { ConfigError } from './config.ts';
import { domainGauges } from './domain-gauges.ts';
import { isEntryPoint, runRole } from './entry-point.ts';
import { busReadiness, relayLagReadiness } from './readiness-parts.ts';
import { openRoleProcess, serveProbes } from './role-process.ts';

/** Publishes events to NATS. Any number may run: one is elected, the others wait. */
export async function startRelay(base: Services, natsUrl: string): Promise<Relay> {
  const services = servicesAsRole(base, 'gpuaas_relay');
  await assertLogIsReadable(services.db);
  return await startNatsRelay({ ...services, natsUrl });
}

if (isEntryPoint(import.meta.filename)) {
  await runRole(async (onStop) => {
    const role = await openRoleProcess('relay', onStop);
    const { config, services, readiness, log } = role;
    if (!config.natsUrl)
      throw new ConfigError('NATS_URL must name the NATS server that events are published to');
    const relay = await startRelay(services, config.natsUrl);
    onStop(() => relay.stop());
    readiness.add(busReadiness({ kind: 'nats', check: () => relay.check() }));
    readiness.add(relayLagReadiness(services, true));
    await serveProbes(
      role,
      createMetrics(servicesAsRole(services, 'gpuaas_relay').database, log, domainGauges),
      onStop,
    );
    log.info('relay ready');
  });
}
