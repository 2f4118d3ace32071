import { actingAs } from '../platform/db/scope.ts';
import { assertLogIsReadable } from '../platform/events/event-log.ts';
import type { Consumption } from '../platform/events/consumer.ts';
import { startRelay as startNatsRelay } from '../platform/events/nats-relay.ts';
import type { Services } from '../platform/services.ts';
import { createLogger } from '../platform/telemetry/logger.ts';
import { readConfig } from './config.ts';
import { isEntryPoint, runRole } from './entry-point.ts';
import { openServices } from './open-services.ts';

/** Publishes events to NATS. Start as many as you like: one is elected, the others wait. */
export async function startRelay(base: Services, natsUrl: string): Promise<Consumption> {
  const services = actingAs(base, 'gpuaas_relay');
  await assertLogIsReadable(services.db);
  return await startNatsRelay({ ...services, natsUrl });
}

if (isEntryPoint(import.meta.filename)) {
  await runRole(async (onStop) => {
    const config = readConfig();
    if (!config.databaseUrl) throw new Error('DATABASE_URL must name the database of the platform');
    if (!config.natsUrl) throw new Error('NATS_URL must name the NATS server that events are published to');
    const log = createLogger('relay');
    const { services, close } = await openServices({
      databaseUrl: config.databaseUrl,
      dataDir: config.dataDir,
      log,
    });
    onStop(close);
    const relay = await startRelay(services, config.natsUrl);
    onStop(() => relay.stop());
    log.info('relay ready');
  });
}
