import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newId } from '../ids.ts';
import { emit } from './emit.ts';
import { assertLogIsReadable, headCursor, isAfter, LOG_START, readEvents, readLog } from './event-log.ts';
import {
  beginTransaction,
  labelOf,
  openTestEvents,
  emitLabelled,
  waitUntil,
  type TestEvents,
} from './testing.ts';

let events: TestEvents;
beforeEach(async () => {
  events = await openTestEvents();
});
afterEach(() => events.close());

/** Transaction ids are shared by the whole server: tests in other databases may delay events for a moment. */
async function labels(count: number): Promise<string[]> {
  await waitUntil(async () => (await readEvents(events.db, LOG_START, 100)).length >= count);
  return (await readEvents(events.db, LOG_START, 100)).map(labelOf);
}

test('an envelope has its six fields, as they were emitted, and no other', async () => {
  const [subjectId, correlationId] = [newId(), newId()];
  const payload = { node_id: subjectId, hostname: 'six' };
  const before = new Date();
  await events.db.transaction().execute((tx) =>
    emit(tx, {
      type: 'node.enrolled',
      subjectId,
      organizationId: null,
      correlationId,
      payload,
    }),
  );
  await waitUntil(async () => (await readEvents(events.db, LOG_START, 10)).length > 0);
  const [event] = await readEvents(events.db, LOG_START, 10);
  expect(event!.envelope).toEqual({
    event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    event_type: 'node.enrolled',
    occurred_at: expect.any(String),
    version: 1,
    correlation_id: correlationId,
    payload,
  });
  expect(Date.parse(event!.envelope.occurred_at)).toBeGreaterThanOrEqual(before.getTime() - 1000);
  expect(event!.subjectId).toBe(subjectId);
});

test('an event is not read past an older transaction that is still running', async () => {
  const early = await beginTransaction(events.db);
  await emitLabelled(early.tx, newId(), 'early');
  await events.db.transaction().execute((tx) => emitLabelled(tx, newId(), 'late'));
  expect(await readLog(events.db, LOG_START, 100)).toEqual({ events: [], held: true });
  await early.commit();
  expect(await labels(2)).toEqual(['early', 'late']);
});

test('a rolled back transaction holds nothing back and leaves nothing', async () => {
  const early = await beginTransaction(events.db);
  await emitLabelled(early.tx, newId(), 'never');
  await events.db.transaction().execute((tx) => emitLabelled(tx, newId(), 'late'));
  await early.rollback();
  expect(await labels(1)).toEqual(['late']);
});

test('the first event of a subject is read first, even if an older transaction emits a later one', async () => {
  const subject = newId();
  const old = await beginTransaction(events.db);
  await sql`select pg_current_xact_id()`.execute(old.tx);
  const between = await beginTransaction(events.db);
  await sql`select pg_current_xact_id()`.execute(between.tx);
  await events.db.transaction().execute((tx) => emitLabelled(tx, subject, 'first'));
  await emitLabelled(old.tx, subject, 'second');
  await emitLabelled(old.tx, newId(), 'other subject');
  await old.commit();
  // `between` still holds back the first event; the second one must not overtake it.
  expect(await labels(1)).toEqual(['other subject']);
  await between.commit();
  await events.db.transaction().execute((tx) => emitLabelled(tx, subject, 'third'));
  expect(await labels(4)).toEqual(['other subject', 'first', 'second', 'third']);
});

test('no reader ever skips an event, in any order of commits', async () => {
  const subjects = Array.from({ length: 5 }, newId);
  const emitted = new Map<string, number>(subjects.map((subject) => [subject, 0]));
  const seen: { subject: string; label: number }[] = [];
  let writing = true;
  const reader = (async () => {
    let cursor = LOG_START;
    for (;;) {
      const finished = !writing;
      const batch = await readEvents(events.db, cursor, 7);
      for (const event of batch) {
        expect(isAfter(event.cursor, cursor)).toBe(true);
        cursor = event.cursor;
        seen.push({ subject: event.subjectId, label: Number(labelOf(event)) });
      }
      if (finished && seen.length >= [...emitted.values()].reduce((sum, count) => sum + count)) return;
    }
  })();
  const write = async (index: number): Promise<void> => {
    for (let round = 0; round < 25; round += 1) {
      await events.db.transaction().execute(async (tx) => {
        // Transactions get their ids in one order and change subjects in another, as real ones do.
        await sql`select pg_current_xact_id()`.execute(tx);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 8));
        const subject = subjects[(index + round) % subjects.length]!;
        await sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 0))`.execute(tx);
        const next = emitted.get(subject)! + 1;
        emitted.set(subject, next);
        await emitLabelled(tx, subject, String(next));
      });
    }
  };
  await Promise.all([0, 1, 2, 3, 4, 5].map(write));
  writing = false;
  await reader;
  for (const subject of subjects) {
    const order = seen.filter((event) => event.subject === subject).map((event) => event.label);
    expect(order).toEqual(Array.from({ length: emitted.get(subject)! }, (_, index) => index + 1));
  }
});

test('a payload that breaks the contract is refused, and secrets in it are redacted', async () => {
  const event = {
    type: 'node.enrolled',
    subjectId: newId(),
    organizationId: null,
    correlationId: newId(),
    payload: { node_id: newId(), hostname: `key gpk_${'x'.repeat(43)}_00000000` },
  } as const;
  await events.db.transaction().execute((tx) => emit(tx, event));
  expect(await labels(1)).toEqual(['key [REDACTED]']);
  const broken = { ...event, payload: { node_id: 'not-a-uuid', hostname: 'a' } };
  await expect(events.db.transaction().execute((tx) => emit(tx, broken))).rejects.toThrow(
    'breaks the contract',
  );
});

test('a log restored from another server is detected and can be rebased', async () => {
  await events.db.transaction().execute((tx) => emitLabelled(tx, newId(), 'read'));
  await labels(1);
  const { xid, position } = await headCursor(events.db);
  await events.db.transaction().execute((tx) => emitLabelled(tx, newId(), 'unread'));
  await assertLogIsReadable(events.db);
  const future = 1_000_000_000n;
  await sql`alter table outbox_events disable trigger outbox_events_append_only`.execute(events.db);
  await sql`update outbox_events set xid = (xid::text::numeric + ${future})::text::xid8`.execute(events.db);
  await sql`insert into event_consumers (name, cursor_xid, cursor_position)
    values ('reader', ${String(BigInt(xid) + future)}::xid8, ${position})`.execute(events.db);
  await expect(assertLogIsReadable(events.db)).rejects.toThrow('rebase_event_log');
  await sql`select rebase_event_log()`.execute(events.db);
  await assertLogIsReadable(events.db);
  const row = await events.db
    .selectFrom('event_consumers')
    .select(['cursor_xid', 'cursor_position'])
    .executeTakeFirstOrThrow();
  const unread = await readEvents(
    events.db,
    { xid: row.cursor_xid, position: String(row.cursor_position) },
    10,
  );
  expect(unread.map(labelOf)).toEqual(['unread']);
});
