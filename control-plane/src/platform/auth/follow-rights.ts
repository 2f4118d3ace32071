import type { Db } from '../db/database.ts';
import { inScope } from '../db/scope.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Binding, Caller } from './caller.ts';
import { refreshBindings } from './credentials.ts';

/** Rights that were confirmed longer ago than this decide nothing any more. */
const FRESH_MS = 3000;
const LIMIT_MS = 5000;
const RETRY_MS = 500;

/** Whose rights, and how they were proven. */
export type Holder = Pick<Caller, 'bindings' | 'credential'>;

export interface FollowedRights {
  /** Rights confirmed just now, if need be after waiting for them; null when it is over. */
  fresh(): Promise<Binding[] | null>;
  stop(): void;
}

export interface FollowOptions {
  db: Db;
  log: Logger;
  /** Called once: when it no longer holds, or when nobody could say for `LIMIT_MS` whether it does. */
  onEnd: () => void;
  /** What the rights must still allow; without it a credential that stands is enough. */
  holds?: (bindings: readonly Binding[]) => boolean;
}

/** Confirms the rights behind a stream or a terminal again and again, for as long as it is open. */
export function followRights(
  { db, log, onEnd, holds = () => true }: FollowOptions,
  holder: Holder,
): FollowedRights {
  let { bindings } = holder;
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
    const found = await currentBindings(db, holder);
    if (stopped) return;
    if (!found || !holds(found)) return end();
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
      log.warn({ err: error }, 'the rights behind an open connection could not be confirmed');
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

/** The rights of the moment; null when the credential is gone. */
export async function currentBindings(db: Db, holder: Pick<Holder, 'credential'>): Promise<Binding[] | null> {
  return await inScope(db, { role: 'gpuaas_auth' }, (tx) => refreshBindings(tx, holder));
}
