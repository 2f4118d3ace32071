import { expect, test } from 'vitest';
import type { LoggedEvent } from './event-log.ts';
import { handleInOrder } from './handle-in-order.ts';

function event(position: number, event_type = 'node.changed'): LoggedEvent {
  return {
    cursor: { xid: '1', position: String(position) },
    organizationId: null,
    subjectId: 'host',
    envelope: {
      event_id: String(position),
      event_type,
      occurred_at: '2026-01-01T00:00:00Z',
      version: 1,
      correlation_id: 'none',
      payload: {},
    },
  };
}

const positions = (events: readonly LoggedEvent[]): string[] => events.map(({ cursor }) => cursor.position);

/** A consumer of `node.changed` that records the events it handled and those marked as done. */
function listening({ fails = [] }: { fails?: string[] } = {}) {
  const seen: string[][] = [];
  const done: string[] = [];
  const take = async (events: readonly LoggedEvent[]): Promise<void> => {
    seen.push(positions(events));
    if (events.some(({ cursor }) => fails.includes(cursor.position))) throw new Error('not this one');
  };
  const handle = handleInOrder({
    name: 'listening',
    types: ['node.changed'],
    startFrom: 'now',
    handle: (one) => take([one]),
    handleTogether: take,
  });
  const run = (events: LoggedEvent[]) =>
    handle(events, ({ cursor }) => done.push(cursor.position), new AbortController().signal);
  return { seen, done, run };
}

test('events that arrive together are handled together, without other types, and all are done', async () => {
  const { seen, done, run } = listening();
  await run([event(1), event(2, 'node.enrolled'), event(3), event(4, 'node.enrolled')]);
  expect(seen).toEqual([['1', '3']]);
  expect(done).toEqual(['4']);
});

test('events that fail together are retried one by one, and only the failing one holds the consumer', async () => {
  const { seen, done, run } = listening({ fails: ['2'] });
  await expect(run([event(1), event(2), event(3)])).rejects.toThrow('not this one');
  expect(seen).toEqual([['1', '2', '3'], ['1'], ['2']]);
  expect(done).toEqual(['1']);
});

test('a single event is handled individually', async () => {
  const { seen, done, run } = listening();
  await run([event(1, 'node.enrolled'), event(2)]);
  expect(seen).toEqual([['2']]);
  expect(done).toEqual(['1', '2']);
});
