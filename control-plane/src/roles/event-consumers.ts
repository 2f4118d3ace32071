import { queueConsumer } from '../domains/allocations/queue/wake-queue.ts';
import { EmailSender } from '../domains/notifications/email-sender.ts';
import { notifyPeople } from '../domains/notifications/notify-people.ts';
import { allocationOverviewConsumer } from '../domains/read-models/project-allocations.ts';
import { nodeOverviewConsumer } from '../domains/read-models/project-nodes.ts';
import { WebhookDeliverer } from '../domains/webhooks/deliverer.ts';
import { webhookFanOut } from '../domains/webhooks/fan-out.ts';
import { actingAs } from '../platform/db/scope.ts';
import type { Bus } from '../platform/events/consumer.ts';
import { openBus } from '../platform/events/open-bus.ts';
import { startRetiringRelay } from '../platform/events/retire-relay.ts';
import { openMailer } from '../platform/outbound/mailer.ts';
import type { Services } from '../platform/services.ts';
import type { Config } from './config.ts';

/** What reacts to events. Any number of processes may run it; each consumer runs in one of them at a time. */
export async function startEventConsumers(
  base: Services,
  config: Pick<Config, 'natsUrl' | 'smtp' | 'publicUrl'>,
): Promise<{ bus: Bus; stop(): Promise<void> }> {
  const services = actingAs(base, 'gpuaas_worker');
  const reader = actingAs(base, 'gpuaas_relay');
  const bus = await openBus(reader, config.natsUrl);
  const retirement = config.natsUrl ? null : await startRetiringRelay(reader.db, base.log);
  await bus.consume(webhookFanOut(services.db));
  await bus.consume(allocationOverviewConsumer(services.db));
  await bus.consume(nodeOverviewConsumer(services.db));
  await bus.consume(queueConsumer(services));
  await bus.consume(notifyPeople(services, config.smtp && { publicUrl: config.publicUrl }));
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
