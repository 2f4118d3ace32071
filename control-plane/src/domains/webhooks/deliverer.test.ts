import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Caller } from '../../platform/auth/caller.ts';
import { EmbeddedBus } from '../../platform/events/embedded-bus.ts';
import { emit } from '../../platform/events/emit.ts';
import { LOG_START, readEvents } from '../../platform/events/event-log.ts';
import { waitUntil } from '../../platform/events/testing.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { emitAllocation } from '../timeline/allocation-events.ts';
import { claimDeliveries } from './claim-deliveries.ts';
import { createWebhook } from './create-webhook.ts';
import { WebhookDeliverer } from './deliverer.ts';
import type { WebhookRow } from './find-webhook.ts';
import { enqueueEvent } from './enqueue-delivery.ts';
import { enableWebhook } from './enable-webhook.ts';
import { webhookFanOut } from './fan-out.ts';
import { listDeliveries } from './list-deliveries.ts';
import { recordAttempt } from './record-attempt.ts';
import { replayDelivery } from './replay-delivery.ts';
import { RETRY_SECONDS } from './retry-schedule.ts';
import { rotateSecret } from './rotate-secret.ts';
import { sendTestEvent } from './send-test-event.ts';
import { openTestWebhooks, startReceiver, type Receiver, type TestWebhooks } from './testing.ts';

let world: TestWebhooks;
let receiver: Receiver;
let services: Services;
const running: { stop(): Promise<void> }[] = [];

beforeEach(async () => {
  world = await openTestWebhooks({ 'webhooks.allow_private_targets': true });
  services = world.services as Services;
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const part of running.splice(0)) await part.stop();
  await receiver.close();
  await world.close();
});

const person = (key: string) => world.people.find((someone) => someone.key === key)!;
const transact = <T>(
  work: (
    tx: Parameters<Parameters<ReturnType<typeof services.db.transaction>['execute']>[0]>[0],
  ) => Promise<T>,
) => services.db.transaction().execute(work);

async function create(
  key: string,
  eventTypes: string[] = [],
  url = receiver.url,
): Promise<{ row: WebhookRow; secret: string }> {
  const { projectId, organizationId } = person(key);
  const user = await services.db
    .selectFrom('users')
    .select('id')
    .where('email', '=', person(key).email)
    .executeTakeFirstOrThrow();
  const caller = {
    id: user.id,
    userId: user.id,
    authorised: false,
    bindings: [
      {
        group: 'tenant_admin',
        permissions: ['webhook.manage'],
        scope: 'tenant',
        organizationId,
        projectId: null,
      },
    ],
  } as unknown as Caller;
  const body = { project_id: projectId!, url, event_types: eventTypes };
  return await transact((tx) => createWebhook(services, tx, caller, body));
}

async function startWebhooks(): Promise<void> {
  const bus = new EmbeddedBus(services.db, services.listener, services.log);
  await bus.consume(webhookFanOut(services.db));
  running.push({ stop: () => bus.close() });
  startDeliverer();
}

function startDeliverer(): void {
  const deliverer = new WebhookDeliverer(services);
  deliverer.start();
  running.push(deliverer);
}

async function happen(key: string, type: 'allocation.active' | 'allocation.progress'): Promise<void> {
  const { organizationId, projectId } = person(key);
  const allocation = {
    id: newId(),
    organization_id: organizationId!,
    project_id: projectId!,
    state: 'active',
    correlation_id: newId(),
  } as const;
  await transact((tx) =>
    emitAllocation(tx, type, allocation, { stage: 'active', status: 'done', message: 'up' }),
  );
}

const deliveries = async (row: WebhookRow) =>
  (await listDeliveries(services.db, row.id, { limit: 50 })).items;
const reload = (row: WebhookRow) =>
  services.db.selectFrom('webhooks').selectAll().where('id', '=', row.id).executeTakeFirstOrThrow();
const dueNow = () =>
  sql`update webhook_deliveries set next_attempt_at = now() where state = 'pending'`.execute(services.db);

describe('events of a whole tenant', () => {
  const tellOfBudget = (key: string) => {
    const { organizationId } = person(key);
    return transact((tx) =>
      emit(tx, {
        type: 'billing.budget_threshold_reached',
        subjectId: newId(),
        organizationId,
        correlationId: newId(),
        payload: {
          budget_id: newId(),
          organization_id: organizationId!,
          project_id: null,
          scope_type: 'tenant',
          scope_id: organizationId!,
          percent: 80,
          currency: 'USD',
          monthly_micros: 100,
          spent_micros: 80,
          at_cap: 'notify',
        },
      }),
    );
  };

  const tellOfPayment = (key: string) => {
    const { organizationId } = person(key);
    return transact((tx) =>
      emit(tx, {
        type: 'payments.balance_credited',
        subjectId: newId(),
        organizationId,
        correlationId: newId(),
        payload: {
          payment_id: newId(),
          organization_id: organizationId!,
          provider: 'test',
          purpose: 'top_up',
          currency: 'USD',
          amount_micros: 5,
          balance_micros: 5,
        },
      }),
    );
  };

  test('reach the webhooks of people who may see its funds, and no others', async () => {
    const ofAdmin = await create('admin', ['billing.budget_threshold_reached']);
    const ofMember = await create('member');
    const ofStranger = await create('other');
    await startWebhooks();
    await tellOfBudget('admin');
    await tellOfBudget('other');
    await tellOfPayment('other');
    await waitUntil(() => receiver.received.length === 3);
    expect(await deliveries(ofMember.row)).toEqual([]);
    expect(await deliveries(ofAdmin.row)).toHaveLength(1);
    expect(await deliveries(ofStranger.row)).toHaveLength(2);
  });
});

describe('events of a project', () => {
  test('reach its webhook signed, once, as their envelope; other types and other tenants do not', async () => {
    const { row, secret } = await create('admin', ['allocation.active']);
    await startWebhooks();
    await happen('other', 'allocation.active');
    await happen('admin', 'allocation.progress');
    await happen('admin', 'allocation.active');
    await waitUntil(async () => (await deliveries(row))[0]?.state === 'delivered');
    expect(receiver.received).toHaveLength(1);
    const [{ headers, body }] = receiver.received as [(typeof receiver.received)[number]];
    const envelope = new Webhook(secret).verify(body, headers as Record<string, string>) as Record<
      string,
      unknown
    >;
    expect(envelope).toEqual({
      event_id: headers['webhook-id'],
      event_type: 'allocation.active',
      occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      version: 1,
      correlation_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      payload: expect.objectContaining({ project_id: row.project_id, message: 'up' }),
    });
    expect(await deliveries(row)).toMatchObject([
      { event_id: headers['webhook-id'], attempts: [{ attempt: 1, response_status: 200, error: null }] },
    ]);
  });

  test('are not sent to a webhook that was created later', async () => {
    await startWebhooks();
    await happen('admin', 'allocation.active');
    const { row } = await create('admin');
    await happen('admin', 'allocation.progress');
    await waitUntil(async () => (await deliveries(row)).length > 0);
    expect((await deliveries(row)).map((delivery) => delivery.event_type)).toEqual(['allocation.progress']);
  });

  test('that are read together become one delivery each, and none when they are read again', async () => {
    const { row } = await create('admin', ['allocation.active']);
    for (const key of ['admin', 'other', 'admin']) await happen(key, 'allocation.active');
    await happen('admin', 'allocation.progress');
    const read = async () =>
      (await readEvents(services.db, LOG_START, 100)).filter(({ envelope }) =>
        envelope.event_type.startsWith('allocation.'),
      );
    await waitUntil(async () => (await read()).length === 4);
    const events = await read();
    const fanOut = webhookFanOut(services.db);
    await fanOut.handleTogether!(events);
    for (const event of events) await fanOut.handle(event);
    await fanOut.handleTogether!(events);
    expect((await deliveries(row)).map(({ event_type }) => event_type)).toEqual([
      'allocation.active',
      'allocation.active',
    ]);
  });
});

describe('a delivery', () => {
  async function testEvent(row: WebhookRow) {
    return await transact((tx) => sendTestEvent(services, tx, row, newId()));
  }

  test('that fails is retried by the schedule in its row, by any process', async () => {
    const { row } = await create('admin');
    receiver.answer(500);
    startDeliverer();
    await testEvent(row);
    await waitUntil(async () => (await deliveries(row))[0]?.attempts.length === 1);
    const [first] = await deliveries(row);
    expect(first).toMatchObject({
      state: 'pending',
      attempts: [{ response_status: 500, error: 'answered 500' }],
    });
    const [attempt] = first!.attempts;
    const ended = Date.parse(attempt!.started_at) + attempt!.duration_ms;
    const wait = (Date.parse(first!.next_attempt_at!) - ended) / 1000;
    expect(wait).toBeGreaterThan(1);
    // On a busy machine the attempt is recorded some time after its end.
    expect(wait).toBeLessThan(30);
    expect((await reload(row)).failing_since).not.toBeNull();
    await running.pop()!.stop();
    receiver.answer(204);
    await dueNow();
    startDeliverer();
    await waitUntil(async () => (await deliveries(row))[0]?.state === 'delivered');
    expect(
      new Set(receiver.received.map(({ headers, body }) => [headers['webhook-id'], body].join(' '))).size,
    ).toBe(1);
    expect((await deliveries(row))[0]!.attempts.map((attempt) => attempt.response_status)).toEqual([
      500, 204,
    ]);
    expect((await reload(row)).failing_since).toBeNull();
  });

  test('ends as failed after its last attempt and can be replayed under the same id', async () => {
    const { row, secret } = await create('admin');
    receiver.answer(503);
    const delivery = await testEvent(row);
    await sql`update webhook_deliveries set attempts = ${RETRY_SECONDS.length}`.execute(services.db);
    startDeliverer();
    await waitUntil(async () => (await deliveries(row))[0]?.state === 'failed');
    receiver.answer(200);
    await transact((tx) => replayDelivery(services, tx, row, delivery.id));
    await waitUntil(async () => (await deliveries(row))[0]?.state === 'delivered');
    expect(await deliveries(row)).toMatchObject([
      { replay_of: delivery.id, event_id: delivery.event_id },
      { state: 'failed' },
    ]);
    const last = receiver.received.at(-1)!;
    expect(last.headers['webhook-id']).toBe(delivery.event_id);
    new Webhook(secret).verify(last.body, last.headers as Record<string, string>);
  });

  test('is leased by one process, comes back after a crash, and a late outcome changes nothing', async () => {
    const { row } = await create('admin');
    await testEvent(row);
    const [[claimed], none] = [
      await claimDeliveries(services.db, { limit: 10, perTenant: 8 }),
      await claimDeliveries(services.db, { limit: 10, perTenant: 8 }),
    ];
    expect(claimed).toMatchObject({ attempt: 1 });
    expect(none).toEqual([]);
    await sql`update webhook_deliveries set leased_until = now() - interval '1 second'`.execute(services.db);
    expect(await claimDeliveries(services.db, { limit: 10, perTenant: 8 })).toMatchObject([
      { id: claimed!.id, attempt: 2 },
    ]);
    await recordAttempt(services, claimed!, { status: 200, error: null, durationMs: 1 }, new Date());
    expect(await deliveries(row)).toMatchObject([{ state: 'pending', attempts: [] }]);
  });

  test('of a slow endpoint does not hold up other webhooks', async () => {
    const slow = await create('admin');
    const quick = await create('other');
    for (let i = 0; i < 10; i += 1) await testEvent(slow.row);
    await testEvent(quick.row);
    const claimed = await claimDeliveries(services.db, { limit: 100, perTenant: 8 });
    expect(claimed.filter((delivery) => delivery.webhook_id === slow.row.id)).toHaveLength(4);
    expect(claimed.filter((delivery) => delivery.webhook_id === quick.row.id)).toHaveLength(1);
    expect(await claimDeliveries(services.db, { limit: 100, perTenant: 8 })).toEqual([]);
  });
});

describe('a webhook', () => {
  test('is signed with both secrets for a day after a rotation, then only with the new one', async () => {
    const { row, secret } = await create('admin');
    const rotated = await transact((tx) => rotateSecret(services, tx, row));
    startDeliverer();
    await transact((tx) => sendTestEvent(services, tx, rotated.row, newId()));
    await waitUntil(() => receiver.received.length === 1);
    const [first] = receiver.received;
    for (const valid of [secret, rotated.secret]) {
      new Webhook(valid).verify(first!.body, first!.headers as Record<string, string>);
    }
    await services.db.updateTable('webhooks').set({ previous_secret_expires_at: new Date() }).execute();
    await transact((tx) => sendTestEvent(services, tx, rotated.row, newId()));
    await waitUntil(() => receiver.received.length === 2);
    const second = receiver.received[1]!;
    expect(() => new Webhook(secret).verify(second.body, second.headers as Record<string, string>)).toThrow();
    new Webhook(rotated.secret).verify(second.body, second.headers as Record<string, string>);
  });

  test('keeps its secrets sealed', async () => {
    const { row, secret } = await create('admin');
    expect(row.sealed_secret.includes(secret)).toBe(false);
    expect(row.sealed_secret.includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false);
  });

  test('is disabled after days of failure, emits an event, and continues when it is enabled', async () => {
    const { row } = await create('admin');
    receiver.answer(500);
    await sql`update webhooks set failing_since = now() - interval '5 days 1 hour'`.execute(services.db);
    startDeliverer();
    await transact((tx) => sendTestEvent(services, tx, row, newId()));
    await waitUntil(async () => (await reload(row)).state === 'disabled');
    const disabled = await reload(row);
    expect(disabled.disabled_reason).toBe('every attempt has failed for 5 days');
    const event = await services.db.selectFrom('outbox_events').selectAll().executeTakeFirstOrThrow();
    expect(event).toMatchObject({ event_type: 'webhook.disabled', organization_id: row.organization_id });
    await expect(transact((tx) => sendTestEvent(services, tx, disabled, newId()))).rejects.toThrow(
      'Enable the webhook',
    );
    receiver.answer(200);
    await dueNow();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(receiver.received).toHaveLength(1);
    await transact((tx) => enableWebhook(tx, disabled));
    await waitUntil(async () => (await deliveries(row))[0]?.state === 'delivered');
  });

  test('whose endpoint answers 410 Gone is disabled immediately', async () => {
    const { row } = await create('admin');
    receiver.answer(410);
    startDeliverer();
    await transact((tx) => sendTestEvent(services, tx, row, newId()));
    await waitUntil(async () => (await reload(row)).state === 'disabled');
  });

  test('that is deleted during an attempt leaves nothing', async () => {
    const { row } = await create('admin');
    await transact((tx) => sendTestEvent(services, tx, row, newId()));
    const [claimed] = await claimDeliveries(services.db, { limit: 1, perTenant: 8 });
    await services.db.deleteFrom('webhooks').where('id', '=', row.id).execute();
    await recordAttempt(
      services,
      claimed!,
      { status: 500, error: 'answered 500', durationMs: 1 },
      new Date(),
    );
    expect(await services.db.selectFrom('webhook_deliveries').selectAll().execute()).toEqual([]);
  });
});

describe('many tenants', () => {
  const queue = async (rows: WebhookRow[], events: number): Promise<void> => {
    for (let made = 0; made < events; made += 1) {
      await transact((tx) =>
        enqueueEvent(
          tx,
          rows.map(({ id }) => id),
          {
            event_id: newId(),
            event_type: 'webhook.test',
            occurred_at: new Date().toISOString(),
            version: 1,
            correlation_id: newId(),
            payload: {},
          },
        ),
      );
    }
  };

  test('take turns: endpoints that never answer delay only their own tenant', async () => {
    const silent = await startReceiver();
    silent.answer(0);
    const slow = [];
    for (let made = 0; made < 4; made += 1) slow.push((await create('admin', [], silent.url)).row);
    await queue(slow, 60);
    startDeliverer();
    await waitUntil(() => silent.received.length >= 4, 60_000);
    const { row } = await create('other');
    const queuedAt = Date.now();
    await transact((tx) => sendTestEvent(services, tx, row, newId()));
    // One after another these endpoints would take ten seconds each, 240 times over.
    await waitUntil(() => receiver.received.length === 1, 60_000);
    expect(Date.now() - queuedAt).toBeLessThan(60_000);
    const { rows } = await sql<{ busy: bigint }>`select count(*) as busy from webhook_deliveries d
      where d.state = 'pending' and d.leased_until > now()
        and d.webhook_id = any(${slow.map(({ id }) => id)}::uuid[])`.execute(services.db);
    expect(Number(rows[0]!.busy)).toBeLessThanOrEqual(services.policies.get('webhooks.max_in_flight'));
    await silent.close();
  });

  test('get the free places in turn, not by age', async () => {
    const first = (await create('admin')).row;
    const second = (await create('other')).row;
    await queue([first], 10);
    await queue([second], 2);
    const claimed = await claimDeliveries(services.db, { limit: 4, perTenant: 3 });
    expect(claimed.map(({ webhook_id }) => webhook_id).toSorted()).toEqual(
      [first.id, first.id, second.id, second.id].toSorted(),
    );
    const next = await claimDeliveries(services.db, { limit: 100, perTenant: 3 });
    expect(next.map(({ webhook_id }) => webhook_id)).toEqual([first.id]);
  });

  test('have one limit per minute for tests and replays together, separate from other tenants', async () => {
    const { row } = await create('admin');
    const { row: foreign } = await create('other');
    const limit = services.policies.get('webhooks.requests_per_minute');
    const [sent] = [await transact((tx) => sendTestEvent(services, tx, row, newId()))];
    for (let made = 2; made < limit; made += 1)
      await transact((tx) => sendTestEvent(services, tx, row, newId()));
    await transact((tx) => replayDelivery(services, tx, row, sent.id));
    const refused = { status: 429, options: { retryAfterSeconds: expect.any(Number) as number } };
    await expect(transact((tx) => sendTestEvent(services, tx, row, newId()))).rejects.toMatchObject(refused);
    await expect(transact((tx) => replayDelivery(services, tx, row, sent.id))).rejects.toMatchObject(refused);
    await transact((tx) => sendTestEvent(services, tx, foreign, newId()));
    await sql`update webhook_deliveries set created_at = created_at - interval '61 seconds'`.execute(
      services.db,
    );
    await transact((tx) => sendTestEvent(services, tx, row, newId()));
  });
});
