import type { Binding, Caller } from '../auth/caller.ts';
import { refreshBindings } from '../auth/credentials.ts';
import type { Db } from '../db/database.ts';
import { inScope } from '../db/scope.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Rights that were confirmed longer ago than this decide nothing any more. */
const FRESH_MS = 3000;
const LIMIT_MS = 5000;
const RETRY_MS = 500;

export interface StreamRights {
  /** Rights confirmed just now, if need be after waiting for them; null when the stream is over. */
  fresh(): Promise<Binding[] | null>;
  stop(): void;
}

/**
 * Confirms the rights of a stream's caller again and again. `onEnd` is called once: when the credential is gone, or
 * when nobody could say for `LIMIT_MS` whether it is.
 */
export function followRights(
  { db, log, onEnd }: { db: Db; log: Logger; onEnd: () => void },
  caller: Caller,
): StreamRights {
  let { bindings } = caller;
  let confirmedAt = performance.now();
  let news = Promise.withResolvers<void>();
  let stopped = false;
  const inTime = (ms: number, act: () => void) =>
    setTimeout(act, Math.max(0, confirmedAt + ms - performance.now()));
  const stop = (): void => {
    stopped = true;
    clearTimeout(next);
    clearTimeout(limit);
    news.resolve();
  };
  const end = (): void => {
    stop();
    onEnd();
  };
  const check = async (): Promise<void> => {
    const begun = performance.now();
    const found = await currentBindings(db, caller);
    if (stopped) return;
    if (!found) return end();
    bindings = found;
    confirmedAt = begun;
    clearTimeout(limit);
    limit = inTime(LIMIT_MS, end);
    next = inTime(FRESH_MS, recheck);
    news.resolve();
    news = Promise.withResolvers();
  };
  // One at a time: the next is set when the last has ended.
  const recheck = (): void =>
    void check().catch((error: unknown) => {
      if (stopped) return;
      log.warn({ err: error }, 'event stream could not recheck its caller');
      next = setTimeout(recheck, RETRY_MS);
    });
  let next = inTime(FRESH_MS, recheck);
  let limit = inTime(LIMIT_MS, end);
  return {
    async fresh() {
      while (!stopped) {
        if (performance.now() - confirmedAt < FRESH_MS) return bindings;
        await news.promise;
      }
      return null;
    },
    stop,
  };
}

async function currentBindings(db: Db, caller: Caller): Promise<Binding[] | null> {
  return await inScope(db, { role: 'gpuaas_auth' }, (tx) => refreshBindings(tx, caller));
}
