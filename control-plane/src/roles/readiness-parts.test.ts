import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../platform/db/database.ts';
import { registerConsumer, acquireLease } from '../platform/events/consumer-lease.ts';
import { checkListener } from '../platform/events/embedded-bus.ts';
import { RELAY } from '../platform/events/nats-relay.ts';
import { natsServerInstalled, startNatsServer } from '../platform/events/nats-testing.ts';
import { fixedPolicies } from '../platform/policy/testing.ts';
import { openBus } from '../platform/events/open-bus.ts';
import { openTestEvents, emitLabelled, type TestEvents } from '../platform/events/testing.ts';
import { Readiness } from '../platform/http/probes/readiness.ts';
import { newId } from '../platform/ids.ts';
import type { Services } from '../platform/services.ts';
import { addSharedReadinessChecks, busReadiness, databaseReadiness } from './readiness-parts.ts';

let events: TestEvents;
let readiness: Readiness;
beforeEach(async () => {
  events = await openTestEvents();
  readiness = partsOf(events);
});
afterEach(() => events.close());

function partsOf(of: Pick<TestEvents, 'db' | 'database' | 'listener'>): Readiness {
  const parts = new Readiness();
  const services = of as unknown as Services;
  parts.add(databaseReadiness(services));
  parts.add(busReadiness({ kind: 'embedded', check: () => checkListener(of.listener) }));
  addSharedReadinessChecks(parts, services, { natsUrl: 'nats://nowhere', decide: true });
  return parts;
}

async function why(): Promise<Record<string, string>> {
  const { ready, parts } = await readiness.report();
  const reasons = parts.filter((part) => !part.ready).map(({ name, detail }) => [name, detail]);
  expect(ready).toBe(reasons.length === 0);
  return Object.fromEntries(reasons) as Record<string, string>;
}

describe('a platform', () => {
  test('is ready part by part, and names what each one waits for', async () => {
    expect(await why()).toEqual({
      workflows: expect.stringContaining('no worker has been heard of') as string,
      'relay lag': 'no relay has run yet',
    });
    await sql`insert into workflow_executors (executor_id, heartbeat_at) values ('w', now())`.execute(
      events.db,
    );
    await registerConsumer(events.db, RELAY, 'now');
    expect(await why()).toEqual({
      'relay lag': expect.stringMatching(/^no process runs the relay; it is 0\.0 s and 0 events/) as string,
    });
    await acquireLease(events.db, RELAY, 'this process');
    expect(await why()).toEqual({});
    await sql`update workflow_executors set heartbeat_at = now() - interval '1 minute'`.execute(events.db);
    expect(Object.keys(await why())).toEqual(['workflows']);
  });

  test('is not while consumers or the relay are far behind the log', async () => {
    await sql`insert into workflow_executors (executor_id, heartbeat_at) values ('w', now())`.execute(
      events.db,
    );
    for (const name of [RELAY, 'webhooks']) {
      await registerConsumer(events.db, name, 'now');
      await acquireLease(events.db, name, 'this process');
    }
    await events.db.transaction().execute((tx) => emitLabelled(tx, newId(), 'late'));
    expect(await why()).toEqual({});
    await events.db.transaction().execute(async (tx) => {
      await sql`set local session_replication_role = replica`.execute(tx);
      await sql`update outbox_events set occurred_at = occurred_at - interval '61 seconds'`.execute(tx);
    });
    expect(await why()).toEqual({
      'event consumers': expect.stringMatching(/^webhooks is 6\d s and 1 events behind/) as string,
      'relay lag': expect.stringMatching(/^6\d\.\d s and 1 events behind/) as string,
    });
  });

  test('is not when PostgreSQL cannot wake it, or is down', async () => {
    await events.listener.close();
    expect((await why())['bus']).toContain('the LISTEN connection is down');
    const database = openDatabase(events.database.url);
    await database.close();
    readiness = partsOf({ ...events, db: database.db, database });
    expect(Object.keys(await why())).toEqual([
      'database',
      'bus',
      'workflows',
      'event consumers',
      'relay lag',
    ]);
  });
});

describe.skipIf(!natsServerInstalled)('a platform on NATS (needs nats-server)', () => {
  test('is not ready while NATS is down, and is ready again without help', async () => {
    const nats = await startNatsServer();
    const bus = await openBus({ ...events, policies: fixedPolicies() }, nats.url);
    try {
      const onNats = new Readiness();
      onNats.add(busReadiness(bus));
      const report = () => onNats.report();
      await expect.poll(report).toMatchObject({
        ready: true,
        parts: [{ detail: expect.stringMatching(/^nats: answers in/) as string }],
      });
      await nats.kill();
      await expect.poll(report).toMatchObject({ ready: false, parts: [{ name: 'bus', ready: false }] });
      await nats.start();
      await expect.poll(report).toMatchObject({ ready: true });
    } finally {
      await bus.close();
      await nats.stop();
    }
  });
});
