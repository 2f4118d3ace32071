import type { Socket } from 'node:net';
import pg from 'pg';
import { DatabaseSilentError } from './is-database-away.ts';
import type { Limits } from './limits.ts';

const KEEP_ALIVE_DELAY_MS = 10_000;
/** The server ends a statement that takes too long; one that does not even do that is frozen or gone. */
const GRACE_MS = 5_000;

/** A pool in which nothing waits without end: not for the server, not for a connection, not for a statement. */
export function openBoundedPool(
  config: pg.PoolConfig,
  { connectMs, statementMs, waitMs }: Limits,
  onError: (error: Error) => void,
): pg.Pool {
  // The pool's timeout covers connecting and waiting for a free connection; a single client has a separate one.
  class QuickClient extends pg.Client {
    constructor(given?: string | pg.ClientConfig) {
      super(typeof given === 'string' ? given : { ...given, connectionTimeoutMillis: connectMs });
    }
  }
  const silentMs = statementMs > 0 ? statementMs + GRACE_MS : 0;
  const pool = new pg.Pool({
    ...config,
    Client: QuickClient,
    connectionTimeoutMillis: waitMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    ...(statementMs > 0 ? { statement_timeout: statementMs } : {}),
  });
  // Connections fail when the server restarts; the pool replaces them, the process must not die of it. The pool tells
  // of idle ones only: one that is between two statements of a transaction would bring the process down.
  pool.on('error', onError);
  pool.on('connect', (client) => {
    client.on('error', onError);
    const socket = socketOf(client);
    socket.on('timeout', () => socket.destroy(new DatabaseSilentError(silentMs)));
  });
  pool.on('acquire', (client) => void socketOf(client).setTimeout(silentMs));
  pool.on('release', (_error, client) => void socketOf(client).setTimeout(0));
  return pool;
}

function socketOf(client: pg.PoolClient): Socket {
  return client.connection.stream as Socket;
}
