import { createTestDatabase } from '../db/testing.ts';
import { openDatabase, type Database, type Db, type Tx } from '../db/database.ts';
import { Listener } from '../db/listener.ts';
import { newId } from '../ids.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { emit, EVENTS_CHANNEL } from './emit.ts';
import type { LoggedEvent } from './event-log.ts';

export interface TestEvents {
  db: Db;
  database: Database;
  listener: Listener;
  log: Logger;
  close(): Promise<void>;
}

/** A database with its own event log. */
export async function openTestEvents(): Promise<TestEvents> {
  const { url, drop } = await createTestDatabase();
  const database = openDatabase(url);
  const listener = new Listener(url, [EVENTS_CHANNEL]);
  await listener.start();
  const log = createLogger('test');
  log.level = process.env['GPUAAS_TEST_LOG'] ?? 'silent';
  return {
    db: database.db,
    database,
    listener,
    log,
    async close() {
      await listener.close();
      await database.close();
      await drop();
    },
  };
}

/** An event of `subjectId` that carries `label`. */
export async function emitLabelled(tx: Tx, subjectId: string, label: string): Promise<string> {
  return await emit(tx, {
    type: 'node.enrolled',
    subjectId,
    organizationId: null,
    correlationId: newId(),
    payload: { node_id: subjectId, hostname: label },
  });
}

export function labelOf(event: LoggedEvent): string {
  return String(event.envelope.payload['hostname']);
}

/** A transaction whose steps a test can interleave with others. */
export async function beginTransaction(
  db: Db,
): Promise<{ tx: Tx; commit(): Promise<void>; rollback(): Promise<void> }> {
  const opened = Promise.withResolvers<Tx>();
  const finished = Promise.withResolvers<void>();
  const transaction = db.transaction().execute(async (tx) => {
    opened.resolve(tx);
    await finished.promise;
  });
  transaction.catch(opened.reject);
  return {
    tx: await opened.promise,
    async commit() {
      finished.resolve();
      await transaction;
    },
    async rollback() {
      finished.reject(new Error('rolled back'));
      await transaction.catch(() => undefined);
    },
  };
}

export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 30_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`gave up waiting after ${timeoutMs} ms: ${String(condition)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
