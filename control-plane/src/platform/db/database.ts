import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { openBoundedPool } from './bounded-pool.ts';
import type { DB } from './generated/schema.ts';
import { UNLIMITED, type DatabaseLimits, type Limits } from './limits.ts';

export type Db = Kysely<DB>;
export type Tx = Transaction<DB>;

export interface Database {
  db: Db;
  /** For requests, and for queries that take no role. */
  pool: pg.Pool;
  /** Every connection of this process: how many there are, how many are free, and how many callers wait for one. */
  connections(): { total: number; idle: number; waiting: number };
  /**
   * Connections that always act as gpuaas_auth: every request looks up its caller, in one statement and
   * without a transaction around it.
   */
  identities: pg.Pool;
  url: string;
  close(): Promise<void>;
}

const INT8 = 20;
/** How long a process that freezes in a transaction keeps its locks; longer than a tick holds its lock. */
const FROZEN_MS = 10 * 60_000;
/** Each is used for the length of one statement. */
const STANDING_MAX = 6;
/** Roles in which nobody waits for an answer. */
const AT_WORK = new Set(['gpuaas_worker', 'gpuaas_relay']);

export function openDatabase(
  url: string,
  options: { max?: number; onError?: (error: Error) => void; limits?: DatabaseLimits } = {},
): Database {
  const { requests, work } = options.limits ?? { requests: UNLIMITED, work: UNLIMITED };
  const types: pg.CustomTypesConfig = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === INT8 ? BigInt : pg.types.getTypeParser(oid, format),
  };
  let closed = false;
  // A server that stops right after us cuts connections that are just being ended.
  const tell = (error: Error): void => {
    if (!closed) options.onError?.(error);
  };
  const open = (connectionString: string, max: number, limits: Limits): pg.Pool =>
    openBoundedPool(
      { connectionString, max, types, idle_in_transaction_session_timeout: FROZEN_MS },
      limits,
      tell,
    );
  const pool = open(url, options.max ?? 20, requests);
  const workPool = open(url, options.max ?? 20, work);
  const identities = open(withRole(url, 'gpuaas_auth'), options.max ?? 10, requests);
  const standing = new Map<string, pg.Pool>();
  const family: PoolFamily = {
    ofRole: (role) => (AT_WORK.has(role) ? workPool : pool),
    standing: (role) => {
      const max = Math.min(options.max ?? STANDING_MAX, STANDING_MAX);
      const limits = AT_WORK.has(role) ? work : requests;
      const known = standing.get(role) ?? open(withRole(url, role), max, limits);
      standing.set(role, known);
      // Who is late to a closed database must not open it again.
      if (closed && !known.ended) void known.end();
      return known;
    },
  };
  families.set(pool, family);
  families.set(workPool, family);
  const db = openHandle(pool, new PostgresDialect({ pool }));
  const all = (): pg.Pool[] => [pool, workPool, identities, ...standing.values()];
  const sum = (count: (each: pg.Pool) => number): number =>
    all().reduce((before, each) => before + count(each), 0);
  return {
    db,
    pool,
    identities,
    url,
    connections: () => ({
      total: sum((each) => each.totalCount),
      idle: sum((each) => each.idleCount),
      waiting: sum((each) => each.waitingCount),
    }),
    async close() {
      closed = true;
      await Promise.all(all().map((each) => each.end()));
    },
  };
}

/** A connection that cannot take the role is refused, so every connection has it. */
function withRole(url: string, role: string): string {
  const address = new URL(url);
  const given = address.searchParams.get('options');
  address.searchParams.set('options', `${given ? `${given} ` : ''}-c role=${role}`);
  return address.href;
}

const pools = new WeakMap<Db, pg.Pool>();

/** A database handle for the pool; not a transaction. */
export function openHandle(pool: pg.Pool, dialect: PostgresDialect): Db {
  const db = new Kysely<DB>({ dialect });
  pools.set(db, pool);
  return db;
}

export function poolOf(db: Db): pg.Pool {
  const pool = pools.get(db);
  if (!pool) throw new Error('a scope opens its own transaction and cannot stand inside one');
  return pool;
}

/** The pools of one database. */
interface PoolFamily {
  /** For transactions under the role. */
  ofRole(role: string): pg.Pool;
  /** Connections that stand in the role. */
  standing(role: string): pg.Pool;
}

const families = new WeakMap<pg.Pool, PoolFamily>();

function familyOf(pool: pg.Pool): PoolFamily {
  const family = families.get(pool);
  if (!family) throw new Error('the pool belongs to no database');
  return family;
}

/** Where transactions under the role run: work has more time for a statement than requests have. */
export function poolOfRole(pool: pg.Pool, role: string): pg.Pool {
  return familyOf(pool).ofRole(role);
}

/**
 * Connections to the database that always act under one role, for statements without a transaction: wrapping
 * each in one would cost two more round trips.
 */
export function openRolePool(pool: pg.Pool, role: string): pg.Pool {
  return familyOf(pool).standing(role);
}

/** True for the SQLSTATE `code` of a failed statement. */
export function isDatabaseError(error: unknown, code: string): boolean {
  return error instanceof pg.DatabaseError && error.code === code;
}

/** True if the server answered that a statement has failed: its transaction is rolled back for certain. */
export function isServerError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code !== undefined && !/^(57P|08|XX)/.test(error.code);
}
