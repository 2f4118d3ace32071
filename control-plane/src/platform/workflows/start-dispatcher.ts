import { setTimeout as pause } from 'node:timers/promises';
import type { Db } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import type { Logger } from '../telemetry/logger.ts';
import { dispatchStarts } from './dispatch-starts.ts';
import { STARTS_CHANNEL } from './queue-names.ts';

const BATCH = 500;
/** A lost notification costs this much latency. */
const POLL_MS = 1000;

/** Keeps moving start rows to the queue. Every worker runs one; they share the rows. */
export function runStartDispatcher(options: { db: Db; listener: Listener; log: Logger }): {
  stop(): Promise<void>;
} {
  const { db, listener, log } = options;
  const stopping = new AbortController();
  let woken = true;
  const off = listener.on(STARTS_CHANNEL, () => {
    woken = true;
  });
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      woken = false;
      try {
        const moved = await dispatchStarts(db, { limit: BATCH });
        if (moved === BATCH) continue;
      } catch (error) {
        log.warn({ err: error }, 'workflow starts could not be dispatched; trying again');
        await pause(POLL_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
        continue;
      }
      if (!woken) await listener.wait(STARTS_CHANNEL, POLL_MS, { signal: stopping.signal });
    }
  };
  const running = loop();
  return {
    async stop() {
      stopping.abort();
      off();
      await running;
    },
  };
}
