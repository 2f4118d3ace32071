import { EmailSender } from '../domains/notifications/email-sender.ts';
import { WebhookDeliverer } from '../domains/webhooks/deliverer.ts';
import { servicesAsRole } from '../platform/db/scope.ts';
import type { Bus } from '../platform/events/consumer.ts';
import { openBus } from '../platform/events/open-bus.ts';
import { startRetiringRelay } from '../platform/events/retire-relay.ts';
import { openMailer } from '../platform/outbound/mailer.ts';
import type { PlatformServices } from './domain-answers.ts';
import { domainModules } from './domain-modules.ts';
import type { Config } from './config.ts';

/** Starts the event consumers. Any number of processes may run it; each consumer runs in one of them at a time. */
export async function startEventConsumers(
  base: PlatformServices,
  config: Pick<Config, 'natsUrl' | 'smtp' | 'publicUrl'>,
): Promise<{ bus: Bus; stop(): Promise<void> }> {
  const services = servicesAsRole(base, 'gpuaas_worker');
  const reader = servicesAsRole(base, 'gpuaas_relay');
  const bus = await openBus(reader, config.natsUrl);
  const retirement = config.natsUrl ? null : await startRetiringRelay(reader.db, base.log);
  const context = { services, email: config.smtp && { publicUrl: config.publicUrl } };
  for (const module of domainModules)
    for (const consumer of module.consumers?.(context) ?? []) await bus.consume(consumer);
  const deliverer = new WebhookDeliverer(services);
  deliverer.start();
  const emails = config.smtp ? new EmailSender(services, openMailer(config.smtp)) : null;
  emails?.start();
  return {
    bus,
    async stop() {
      retirement?.stop();
      await bus.close();
      await deliverer.stop();
      await emails?.stop();
    },
  };
}
