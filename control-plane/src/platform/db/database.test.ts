import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase, type Database } from './database.ts';
import { createTestDatabase } from './testing.ts';

const reported: Error[] = [];
let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const created = await createTestDatabase();
  drop = created.drop;
  database = openDatabase(created.url, { onError: (error) => reported.push(error) });
});
afterAll(async () => {
  await database?.close();
  await drop?.();
});

it('a connection that is lost between two statements fails its transaction, not the process', async () => {
  const { db } = database;
  const transaction = db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    await sql`select pg_terminate_backend(${rows[0]!.pid})`.execute(db);
    await expect.poll(() => reported.length).toBeGreaterThan(0);
    await sql`select 1`.execute(tx);
  });
  await expect(transaction).rejects.toThrow();
  expect((await sql<{ one: number }>`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
});

it('a process that freezes in a transaction keeps its locks for ten minutes at most', async () => {
  for (const pool of [database.pool, database.identities])
    expect((await pool.query('show idle_in_transaction_session_timeout')).rows).toEqual([
      { idle_in_transaction_session_timeout: '10min' },
    ]);
});
