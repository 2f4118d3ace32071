import type { Db, Tx } from '../db/database.ts';
import { inScope } from '../db/scope.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Binding, Caller } from './caller.ts';

/** Rights confirmed longer ago than this are no longer used. */
const FRESH_MS = 3000;
const LIMIT_MS = 5000;
const RETRY_MS = 500;

/** The holder of the rights and the credential. */
export type Holder = Pick<Caller, 'bindings' | 'credential'>;

/** Reads a caller's credential and rights again; null if the credential is gone. Runs as `gpuaas_auth`. */
export type RefreshBindings = (tx: Tx, holder: Pick<Holder, 'credential'>) => Promise<Binding[] | null>;

export interface RightsWatch {
  /** Current rights, after waiting for a confirmation if necessary; null when they have ended. */
  fresh(): Promise<Binding[] | null>;
  /** Rights at the last confirmation; good enough to hide an event, never to show one. */
  last(): Binding[];
  stop(): void;
}

export interface RightsWatchOptions {
  db: Db;
  log: Logger;
  refresh: RefreshBindings;
  /** Called once: when the rights end, or could not be confirmed for `LIMIT_MS`. */
  onEnd: () => void;
  /** What the rights must still allow; without it a valid credential is enough. */
  holds?: (bindings: readonly Binding[]) => boolean;
}

/** Confirms the rights of an open stream or terminal repeatedly. */
export function watchRights(
  { db, log, refresh, onEnd, holds = () => true }: RightsWatchOptions,
  holder: Holder,
): RightsWatch {
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
    const found = await currentBindings(db, refresh, holder);
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
  // One at a time: the next is scheduled when the last has ended.
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
    last: () => bindings,
    stop,
  };
}

/** Current rights; null if the credential is gone. */
export async function currentBindings(
  db: Db,
  refresh: RefreshBindings,
  holder: Pick<Holder, 'credential'>,
): Promise<Binding[] | null> {
  return await inScope(db, { role: 'gpuaas_auth' }, (tx) => refresh(tx, holder));
}
