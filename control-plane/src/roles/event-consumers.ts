import { allocationOverviewConsumer } from '../domains/read-models/project-allocations.ts';
import { WebhookDeliverer } from '../domains/webhooks/deliverer.ts';
import { webhookFanOut } from '../domains/webhooks/fan-out.ts';
import { actingAs } from '../platform/db/scope.ts';
import { openBus } from '../platform/events/open-bus.ts';
import type { Services } from '../platform/services.ts';
import type { Config } from './config.ts';

/** What reacts to events. Any number of processes may run it; each consumer runs in one of them at a time. */
export async function startEventConsumers(
  base: Services,
  config: Pick<Config, 'natsUrl' | 'allowPrivateWebhooks'>,
): Promise<{ stop(): Promise<void> }> {
  const services = actingAs(base, 'gpuaas_worker');
  const bus = await openBus(actingAs(base, 'gpuaas_relay'), config.natsUrl);
  await bus.consume(webhookFanOut(services.db));
  await bus.consume(allocationOverviewConsumer(services.db));
  const deliverer = new WebhookDeliverer(services, { allowPrivateTargets: config.allowPrivateWebhooks });
  deliverer.start();
  return {
    async stop() {
      await bus.close();
      await deliverer.stop();
    },
  };
}
