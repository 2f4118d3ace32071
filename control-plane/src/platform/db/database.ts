import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import type { DB } from './generated/schema.ts';

export type Db = Kysely<DB>;
export type Tx = Transaction<DB>;

export interface Database {
  db: Db;
  pool: pg.Pool;
  /**
   * Connections that act as gpuaas_auth from the first to the last byte: every request looks up its caller, in
   * one statement and without a transaction around it.
   */
  identities: pg.Pool;
  url: string;
  close(): Promise<void>;
}

const INT8 = 20;
/** How long a process that freezes in a transaction keeps its locks; longer than a tick holds its turn. */
const FROZEN_MS = 10 * 60_000;
/** Each is used for the length of one statement. */
const STANDING_MAX = 6;

export function openDatabase(
  url: string,
  options: { max?: number; onError?: (error: Error) => void } = {},
): Database {
  const types: pg.CustomTypesConfig = {
    getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
      oid === INT8 ? BigInt : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
  };
  // Connections fail when the server restarts; the pool replaces them, the process must not die of it. The pool tells
  // of idle ones only: one that is between two statements of a transaction would bring the process down.
  const tell = (error: Error): void => options.onError?.(error);
  const open = (connectionString: string, max: number): pg.Pool =>
    new pg.Pool({ connectionString, max, types, idle_in_transaction_session_timeout: FROZEN_MS })
      .on('error', tell)
      .on('connect', (client) => client.on('error', tell));
  const pool = open(url, options.max ?? 20);
  const identities = open(withRole(url, 'gpuaas_auth'), options.max ?? 10);
  const standing = new Map<string, pg.Pool>();
  let closed = false;
  standingPools.set(pool, (role) => {
    const known =
      standing.get(role) ?? open(withRole(url, role), Math.min(options.max ?? STANDING_MAX, STANDING_MAX));
    standing.set(role, known);
    // Who is late to a closed database must not open it again.
    if (closed && !known.ended) void known.end();
    return known;
  });
  const db = openHandle(pool, new PostgresDialect({ pool }));
  return {
    db,
    pool,
    identities,
    url,
    async close() {
      closed = true;
      await Promise.all([pool, identities, ...standing.values()].map((each) => each.end()));
    },
  };
}

/** A connection that cannot take the role is refused, so there is none without it. */
function withRole(url: string, role: string): string {
  const address = new URL(url);
  const given = address.searchParams.get('options');
  address.searchParams.set('options', `${given ? `${given} ` : ''}-c role=${role}`);
  return address.href;
}

const pools = new WeakMap<Db, pg.Pool>();

/** A way to speak to the pool; a transaction is none. */
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

const standingPools = new WeakMap<pg.Pool, (role: string) => pg.Pool>();

/**
 * Connections to the same database that act under one role from the first to the last byte, for statements that need no
 * transaction: putting one around each would cost two more round trips.
 */
export function standingPool(pool: pg.Pool, role: string): pg.Pool {
  const open = standingPools.get(pool);
  if (!open) throw new Error('the pool belongs to no database');
  return open(role);
}

/** True for the SQLSTATE `code` of a failed statement. */
export function isDatabaseError(error: unknown, code: string): boolean {
  return error instanceof pg.DatabaseError && error.code === code;
}

/** True if the server answered that a statement has failed: its transaction is rolled back for certain. */
export function isServerError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code !== undefined && !/^(57P|08|XX)/.test(error.code);
}
