import type { Db } from '../db/database.ts';
import { inScope } from '../db/scope.ts';
import { networkOf } from '../http/admission/client-network.ts';
import type { Logger } from '../telemetry/logger.ts';
import { recordAudit, recordAudits, type AuditEntry } from './record.ts';

/** An attempt that changed nothing. Where it came from is always known. */
export interface DeniedEntry extends AuditEntry {
  result: 'denied' | 'refused' | 'failed';
  ip: string;
}

export interface DenialLimits {
  /** Rows of one actor, or of one address without an actor, for one action. */
  perMinute: number;
  /** Rows of everybody together, in one process. */
  inTotalPerMinute: number;
}

interface Counted {
  since: number;
  written: number;
  left: number;
  /** The last that got no row. */
  last: DeniedEntry | null;
}

const MINUTE_MS = 60_000;
const SWEEP_MS = 5_000;
const MAX_COUNTERS = 10_000;
const EVERYBODY = 'everybody';

/**
 * The audit log of attempts that were refused. Nobody may delete that log, so nobody may fill it: the first attempts of a
 * minute get a row each, all others one row together, with their number.
 */
export class Denials {
  readonly #db: Db;
  readonly #log: Logger;
  readonly #limits: () => DenialLimits;
  readonly #now: () => number;
  readonly #counters = new Map<string, Counted>();
  readonly #timer: NodeJS.Timeout;
  #total = { since: 0, written: 0 };

  constructor(options: { db: Db; log: Logger; limits: () => DenialLimits; now?: () => number }) {
    this.#db = options.db;
    this.#log = options.log;
    this.#limits = options.limits;
    this.#now = options.now ?? (() => performance.now());
    this.#timer = setInterval(() => void this.sweep(), SWEEP_MS).unref();
  }

  /** Never fails and never throws: the refusal stands, whatever becomes of its row. */
  async record(entry: DeniedEntry): Promise<void> {
    const counter = this.#counter(entry);
    if (counter.written >= this.#limits().perMinute || !this.#takeOfTotal()) {
      counter.left += 1;
      counter.last = entry;
      return;
    }
    counter.written += 1;
    try {
      await inScope(this.#db, { role: 'gpuaas_auth' }, (tx) => recordAudit(tx, entry));
    } catch (failure) {
      this.#log.error(
        { err: failure, correlation_id: entry.correlationId },
        'a denied attempt could not be audited',
      );
    }
  }

  /** Writes the sums of minutes that are over; `all` for those that are not, too. */
  async sweep({ all = false } = {}): Promise<void> {
    const now = this.#now();
    const over = [...this.#counters].filter(([, { since }]) => all || now - since >= MINUTE_MS);
    for (const [key] of over) this.#counters.delete(key);
    const sums = sumsOf(over.map(([, counter]) => counter));
    if (sums.length === 0) return;
    try {
      await inScope(this.#db, { role: 'gpuaas_auth' }, (tx) => recordAudits(tx, sums));
    } catch (failure) {
      this.#log.error({ err: failure, rows: sums.length }, 'denied attempts could not be summed up');
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.sweep({ all: true });
  }

  #counter(entry: DeniedEntry): Counted {
    const actor = entry.actorUserId ?? (entry.actorKind === 'node' ? entry.targetId : networkOf(entry.ip));
    const key = `${actor} ${entry.action} ${entry.result}`;
    const known = this.#counters.get(key) ?? this.#counters.get(this.#isFull() ? EVERYBODY : key);
    if (known && this.#now() - known.since < MINUTE_MS) return known;
    if (known) void this.sweep();
    const counter = { since: this.#now(), written: 0, left: 0, last: null };
    this.#counters.set(this.#isFull() ? EVERYBODY : key, counter);
    return counter;
  }

  #isFull(): boolean {
    return this.#counters.size >= MAX_COUNTERS;
  }

  #takeOfTotal(): boolean {
    const now = this.#now();
    if (now - this.#total.since >= MINUTE_MS) this.#total = { since: now, written: 0 };
    this.#total.written += 1;
    return this.#total.written <= this.#limits().inTotalPerMinute;
  }
}

/** Rows that one sweep writes, whatever number of actors it counted. */
const MAX_SUMS = 100;

/** One row for each actor and action, the largest first; those beyond the bound share the last row. */
function sumsOf(counters: readonly Counted[]): DeniedEntry[] {
  const sums = counters
    .flatMap(({ left, last }) => (last ? [{ left, last }] : []))
    .toSorted((a, b) => b.left - a.left);
  if (sums.length <= MAX_SUMS) return sums.map(sumOf);
  const others = sums.slice(MAX_SUMS - 1);
  return [...sums.slice(0, MAX_SUMS - 1).map(sumOf), sumOfOthers(others)];
}

interface Sum {
  left: number;
  last: DeniedEntry;
}

/** One row for all denials without a separate row. */
function sumOf({ left, last }: Sum): DeniedEntry {
  const { before: _before, after: _after, detail = {}, ...entry } = last;
  return { ...entry, detail: { ...detail, more_of_the_same: left } };
}

/** Belongs to nobody in particular, so it names no actor and no tenant. */
function sumOfOthers(others: readonly Sum[]): DeniedEntry {
  const { correlationId, ip } = others[0]!.last;
  return {
    actorUserId: null,
    actorKind: 'anonymous',
    actorRole: 'anonymous',
    action: 'audit.sum_up',
    targetType: 'operation',
    targetId: 'several',
    result: 'denied',
    correlationId,
    ip,
    detail: {
      actors_and_actions: others.length,
      more_of_the_same: others.reduce((sum, { left }) => sum + left, 0),
    },
  };
}
