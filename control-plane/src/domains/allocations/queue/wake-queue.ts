import { setTimeout as pause } from 'node:timers/promises';
import { deadlineAfter } from '../../../platform/clock.ts';
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
      // Whoever is at it may have looked before the change, so this look is not left out but waits for its turn.
      for (const deadline = deadlineAfter(TURN_MS); !deadline.passed(); await pause(AGAIN_MS)) {
        began = services.clock.now().getTime();
        if ((await runQueue(services)) !== null) return;
      }
    },
  };
}

/** After that the regular look, which is due every few seconds, is soon enough. */
const TURN_MS = 10_000;
const AGAIN_MS = 200;

/** Time passes too: launches expire, hosts fall silent and return, waiting grows long. */
export const runQueueRegularly: Tick<Services> = {
  name: 'allocations.run_queue',
  everySeconds: 5,
  catchUp: 'skip',
  run: async (services) => {
    await runQueue(services);
  },
};
