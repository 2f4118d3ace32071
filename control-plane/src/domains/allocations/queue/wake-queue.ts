import type { Consumer } from '../../../platform/events/consumer.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { runQueue } from './run-queue.ts';

/** Looks at the line when capacity has changed. A burst of changes is one look. */
export function queueConsumer(services: Services): Consumer {
  let began = 0;
  return {
    name: 'allocations.queue',
    types: ['node.slots_changed', 'node.changed'],
    startFrom: 'now',
    handle: async (event) => {
      if (Date.parse(event.envelope.occurred_at) < began) return;
      began = services.clock.now().getTime();
      await runQueue(services);
    },
  };
}

/** Time passes too: launches expire, hosts fall silent and return, waiting grows long. */
export const runQueueRegularly: Tick<Services> = {
  name: 'allocations.run_queue',
  everySeconds: 5,
  catchUp: 'skip',
  run: async (services) => {
    await runQueue(services);
  },
};
