import { isConnectionError } from '@gpuaas/contracts/connection-error';
import pg from 'pg';

/** The server took a statement and said nothing more. */
export class DatabaseSilentError extends Error {
  constructor(afterMs: number) {
    super(`the database did not answer within ${afterMs} ms`);
    this.name = 'DatabaseSilentError';
  }
}

/** Shutting down or starting (57P), connection lost (08), no connection left (53300), statement took too long (57014). */
const AWAY_STATES = /^(?:57P|08|53300$|57014$)/;

/** What the driver says of connections, without a code. */
const DRIVER_SAYS = new Set([
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Connection terminated',
  'Connection terminated due to connection timeout',
  'Connection terminated unexpectedly',
  'timeout exceeded when trying to connect',
  'timeout expired',
]);

/** True when the database could not be asked, or was too slow: the same request may work in a moment. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseSilentError || isConnectionError(error)) return true;
  if (error instanceof pg.DatabaseError) return AWAY_STATES.test(error.code ?? '');
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway);
  if (!(error instanceof Error)) return false;
  return DRIVER_SAYS.has(error.message) || ('syscall' in error && error.syscall === 'getaddrinfo');
}
