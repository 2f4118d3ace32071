import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { sql, type RawBuilder } from 'kysely';
import { isDatabaseError, type Tx } from '../db/database.ts';
import { Problem } from './problem.ts';
import { deadlineAfter, type Deadline } from '../clock.ts';

export interface StoredReply {
  status: number;
  body: unknown;
  location: string | null;
}

export interface IdempotentRequest {
  callerId: string;
  key: string;
  operation: string;
  requestHash: Buffer;
}

const WAIT_SECONDS = 5;
const LOCK_NOT_AVAILABLE = '55P03';

export function hashRequest(operation: string, params: unknown, body: unknown): Buffer {
  return createHash('sha256')
    .update(canonicalize({ operation, params: params ?? null, body: body ?? null }) ?? '')
    .digest();
}

/** Mutations that run in this process, by caller and key. */
const running = new Map<string, Promise<void>>();

/**
 * Runs the mutations of one key serially. They wait here, where they hold no database connection: one caller
 * with many equal requests must not exhaust the pool.
 */
export async function serializeByKey<T>(request: IdempotentRequest, run: () => Promise<T>): Promise<T> {
  const name = `${request.callerId} ${request.key}`;
  const deadline = deadlineAfter(WAIT_SECONDS * 1000);
  for (let earlier = running.get(name); earlier; earlier = running.get(name)) {
    if (!(await endsBy(deadline, earlier))) throw inProgress();
  }
  const result = run();
  const end = (): void => void running.delete(name);
  running.set(name, result.then(end, end));
  return await result;
}

async function endsBy(deadline: Deadline, earlier: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), deadline.remainingMs());
  });
  try {
    return await Promise.race([earlier.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

function inProgress(): Problem {
  return new Problem('idempotency_in_progress', 'The first request with this key is still running.', {
    retryAfterSeconds: 2,
  });
}

/**
 * Takes the key inside the mutation's own transaction. Blocks on an equal request in flight in another
 * process until it commits or rolls back; returns the stored reply if there is one.
 */
export async function claimIdempotencyKey(tx: Tx, request: IdempotentRequest): Promise<StoredReply | null> {
  await sql`select set_config('lock_timeout', ${`${WAIT_SECONDS}s`}, true)`.execute(tx);
  try {
    const inserted = await tx
      .insertInto('idempotency_keys')
      .values({
        caller_id: request.callerId,
        key: request.key,
        operation: request.operation,
        request_hash: request.requestHash,
      })
      .onConflict((conflict) => conflict.columns(['caller_id', 'key']).doNothing())
      .executeTakeFirst();
    if (inserted.numInsertedOrUpdatedRows === 1n) return null;
  } catch (error) {
    if (!isDatabaseError(error, LOCK_NOT_AVAILABLE)) throw error;
    throw inProgress();
  } finally {
    await sql`select set_config('lock_timeout', '0', true)`.execute(tx).catch(() => undefined);
  }
  const reply = await findReply(tx, request);
  if (!reply) throw new Error('an idempotency row went away while it was read');
  return reply;
}

/** The stored reply to an earlier request with this key; null if there was none. */
async function findReply(tx: Tx, request: IdempotentRequest): Promise<StoredReply | null> {
  const row = await tx
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('caller_id', '=', request.callerId)
    .where('key', '=', request.key)
    .executeTakeFirst();
  return row ? replayReply(row, request) : null;
}

/** An earlier request with the same key, as it is stored. */
export interface KeyRow {
  request_hash: Buffer;
  response_status: number | null;
  response_body: string | null;
  response_location: string | null;
}

/** The reply to an earlier request; throws if that request was different. */
export function replayReply(row: KeyRow, request: IdempotentRequest): StoredReply {
  if (!row.request_hash.equals(request.requestHash)) {
    throw new Problem('idempotency_key_reused', 'This idempotency key was sent before with another request.');
  }
  if (row.response_status === null) throw new Error('an idempotency row was committed without its answer');
  return {
    status: row.response_status,
    body: row.response_body === null ? undefined : JSON.parse(row.response_body),
    location: row.response_location,
  };
}

/** A request with its reply. */
export interface IdempotentReply {
  request: IdempotentRequest;
  reply: StoredReply;
}

/** SQL fragment that stores the keys and replies of many callers. It fails for a used key. */
export function storeRepliesSql(answered: readonly IdempotentReply[]): RawBuilder<void> {
  return sql`keep_answers(${replyRows(answered)})`;
}

/** The argument of `keep_answers`. */
export function replyRows(answered: readonly IdempotentReply[]): string {
  return JSON.stringify(
    answered.map(({ request, reply }) => ({
      caller_id: request.callerId,
      key: request.key,
      operation: request.operation,
      request_hash: request.requestHash.toString('hex'),
      response_status: reply.status,
      response_body: reply.body === undefined ? null : JSON.stringify(reply.body),
      response_location: reply.location,
    })),
  );
}

export async function storeReply(tx: Tx, request: IdempotentRequest, reply: StoredReply): Promise<void> {
  await tx
    .updateTable('idempotency_keys')
    .set({
      response_status: reply.status,
      response_body: reply.body === undefined ? null : JSON.stringify(reply.body),
      response_location: reply.location,
    })
    .where('caller_id', '=', request.callerId)
    .where('key', '=', request.key)
    .execute();
}
