import { setTimeout as pause } from 'node:timers/promises';
import { deadlineAfter } from '../../../platform/clock.ts';
import type { Consumer } from '../../../platform/events/consumer.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import type { LaunchServices } from '../launch/launch.ts';
import { runQueue } from './run-queue.ts';

/** Runs the queue when capacity has changed. A burst of changes is one run. */
export function queueConsumer(services: LaunchServices): Consumer {
  let began = 0;
  return {
    name: 'allocations.queue',
    types: ['node.slots_changed', 'node.changed'],
    startFrom: 'now',
    handle: async (event) => {
      if (Date.parse(event.envelope.occurred_at) < began) return;
      // A concurrent run may have read the fleet before the change, so this one waits instead of being left out.
      for (const deadline = deadlineAfter(TURN_MS); !deadline.passed(); await pause(AGAIN_MS)) {
        began = services.clock.now().getTime();
        if ((await runQueue(services)) !== null) return;
      }
    },
  };
}

/** Later changes wait for the tick, which runs every few seconds. */
const TURN_MS = 10_000;
const AGAIN_MS = 200;

/** Launches also expire, hosts fall silent and return, and waits grow long without any event. */
export const queueTick: Tick<LaunchServices> = {
  name: 'allocations.run_queue',
  everySeconds: 5,
  catchUp: 'skip',
  run: async (services) => {
    await runQueue(services);
  },
};
