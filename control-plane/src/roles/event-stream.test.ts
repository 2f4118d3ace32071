import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import { fixedPolicies } from '../platform/policy/testing.ts';
import { policyRateLimits } from '../platform/http/admission/rate-limits.ts';
import cookie from '@fastify/cookie';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emitAllocation } from '../domains/timeline/allocation-events.ts';
import { seedDemoPeople, type SeededPerson } from '../domains/tenancy/seed-demo-people.ts';
import { unlimitedDenials } from '../platform/audit/testing/denials.ts';
import { authenticate } from '../domains/tenancy/credentials/authenticate.ts';
import { refreshBindings } from '../domains/tenancy/credentials/refresh-bindings.ts';
import type { Caller } from '../platform/auth/caller.ts';
import { createContractServer, type ContractServer } from '../platform/http/contract-server.ts';
import type { ContractDocument } from '../platform/http/operation.ts';
import { Mismatches } from '../platform/http/responses/testing/mismatches.ts';
import { newId } from '../platform/ids.ts';
import type { Services } from '../platform/services.ts';
import { emit } from '../platform/events/emit.ts';
import { streamEvents, type StreamBounds } from '../platform/events/stream-events.ts';
import { EventTail } from '../platform/events/tail.ts';
import { subscribeEvents } from '@gpuaas/sdk/events';
import { openTestEvents, emitLabelled, waitUntil, type TestEvents } from '../platform/events/testing.ts';

let events: TestEvents;
let people: SeededPerson[];
const mismatches = new Mismatches();
const stops: (() => Promise<void>)[] = [];

beforeEach(async () => {
  events = await openTestEvents();
  people = await events.db.transaction().execute((tx) => seedDemoPeople(tx, 'https://idp.test', new Map()));
});
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
  await events.close();
  mismatches.assertNone();
});

const person = (key: string) => people.find((someone) => someone.key === key)!;

async function startServer(port = 0, bounds?: StreamBounds): Promise<{ url: string; stop(): Promise<void> }> {
  const tail = new EventTail(events.db, events.listener, events.log);
  await tail.start();
  const { paths, ...rest } = document as unknown as ContractDocument & Record<string, unknown>;
  const path = '/api/v1/events/stream';
  const api: ContractServer = await createContractServer<Caller>({
    name: 'public',
    document: { ...rest, paths: { [path]: paths[path]! } },
    handlers: {
      streamEvents: streamEvents(
        { ...events, policies: fixedPolicies() } as unknown as Services,
        tail,
        refreshBindings,
        bounds,
      ),
    },
    authenticate: (request, operation) => authenticate(events.database, request, operation),
    db: events.db,
    rateLimits: policyRateLimits(fixedPolicies()),
    denials: unlimitedDenials(events),
    log: events.log,
    onMismatch: mismatches.onMismatch,
    prepare: async (server) => {
      await server.register(cookie);
    },
  });
  await api.server.listen({ host: '127.0.0.1', port });
  const stop = async (): Promise<void> => {
    await api.stop();
    await tail.stop();
  };
  stops.push(stop);
  return { url: `http://127.0.0.1:${(api.server.server.address() as AddressInfo).port}${path}`, stop };
}

interface Stream {
  messages: { type: string; label: string }[];
  lastId: string;
  ended: Promise<void>;
  /** The stream broke off instead of ending. */
  cut: boolean;
}

/** The view of an EventSource. */
async function listen(url: string, key: string, lastEventId?: string): Promise<Stream> {
  const response = await fetch(url, {
    headers: {
      authorization: `Bearer ${person(key).apiKey}`,
      ...(lastEventId ? { 'last-event-id': lastEventId } : {}),
    },
  });
  expect(response.status).toBe(200);
  const stream: Stream = { messages: [], lastId: '', ended: Promise.resolve(), cut: false };
  stream.ended = (async () => {
    let buffer = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      buffer += chunk;
      const blocks = buffer.split('\n\n');
      buffer = blocks.pop()!;
      for (const block of blocks) {
        const id = /^id: (.*)$/m.exec(block)?.[1];
        const data = /^data: (.+)$/m.exec(block)?.[1];
        if (id) stream.lastId = id;
        if (!data) continue;
        const envelope = JSON.parse(data) as {
          event_type: string;
          payload: { message?: string; hostname?: string };
        };
        stream.messages.push({
          type: envelope.event_type,
          label: envelope.payload.message ?? envelope.payload.hostname ?? '',
        });
      }
    }
  })().catch(() => void (stream.cut = true));
  await waitUntil(() => stream.lastId !== '');
  return stream;
}

async function happen(key: string, ...messages: string[]): Promise<void> {
  const { organizationId, projectId } = person(key);
  const allocation = {
    id: newId(),
    organization_id: organizationId!,
    project_id: projectId!,
    state: 'active',
    correlation_id: newId(),
  } as const;
  await events.db.transaction().execute(async (tx) => {
    for (const message of messages)
      await emitAllocation(tx, 'allocation.active', allocation, { stage: 'active', status: 'done', message });
  });
}

const labels = (stream: Stream) => stream.messages.map((message) => message.label);

test('each caller sees the events of their projects, operators those of the platform', async () => {
  const { url } = await startServer();
  const [member, stranger, operator] = [
    await listen(url, 'member'),
    await listen(url, 'other'),
    await listen(url, 'operator'),
  ];
  await happen('admin', 'of acme');
  await happen('other', 'of globex');
  await events.db.transaction().execute((tx) => emitLabelled(tx, newId(), 'host'));
  await waitUntil(() => member.messages.length + stranger.messages.length + operator.messages.length === 3);
  expect(labels(member)).toEqual(['of acme']);
  expect(labels(stranger)).toEqual(['of globex']);
  expect(labels(operator)).toEqual(['host']);
});

test('an event of a whole tenant reaches people who may see its funds, and people of the projects it names', async () => {
  const { url } = await startServer();
  const { organizationId, projectId } = person('member');
  const [admin, member, stranger] = [
    await listen(url, 'admin'),
    await listen(url, 'member'),
    await listen(url, 'other'),
  ];
  const warn = (projectIds: string[]) =>
    events.db.transaction().execute((tx) =>
      emit(tx, {
        type: 'billing.low_balance_warning',
        subjectId: organizationId!,
        organizationId,
        correlationId: newId(),
        payload: {
          organization_id: organizationId!,
          project_id: null,
          project_ids: projectIds,
          currency: 'USD',
          available_micros: 1,
          per_hour_micros: 1,
          runs_out_at: new Date().toISOString(),
          stops_at: null,
          at_zero: 'Stopped.',
        },
      }),
    );
  await warn([]);
  await warn([projectId!]);
  await happen('other', 'mark');
  await waitUntil(() => admin.messages.length === 2 && member.messages.length === 1);
  await waitUntil(() => stranger.messages.length === 1);
  expect(labels(stranger)).toEqual(['mark']);
});

test('an event for one person reaches no other person, not even an operator', async () => {
  const { url } = await startServer();
  const streams = [await listen(url, 'admin'), await listen(url, 'member'), await listen(url, 'operator')];
  const { organizationId } = person('member');
  const { id } = await events.db
    .selectFrom('users')
    .select('id')
    .where('email', '=', person('member').email)
    .executeTakeFirstOrThrow();
  for (const owner of [organizationId, null]) {
    await events.db.transaction().execute((tx) =>
      emit(tx, {
        type: 'notification.created',
        subjectId: id,
        organizationId: owner,
        correlationId: newId(),
        payload: { notification_id: newId(), user_id: id, kind: 'k', severity: 'info', title: 't' },
      }),
    );
  }
  await happen('admin', 'mark');
  await events.db.transaction().execute((tx) => emitLabelled(tx, newId(), 'host'));
  await waitUntil(
    () => streams.every(({ messages }) => messages.length > 0) && streams[1]!.messages.length === 3,
  );
  expect(streams.map(({ messages }) => messages.length)).toEqual([1, 3, 1]);
});

test('a stream resumes over a restart of the server without a gap or a repetition', async () => {
  const first = await startServer();
  const before = await listen(first.url, 'member');
  await happen('admin', 'one');
  await waitUntil(() => before.messages.length === 1);
  await first.stop();
  await before.ended;
  for (let i = 0; i < 1200; i += 1) await happen('other', 'not yours');
  await happen('admin', 'two');
  const second = await startServer();
  await happen('admin', 'three');
  const after = await listen(second.url, 'member', before.lastId);
  await happen('admin', 'four');
  await waitUntil(() => after.messages.length === 3);
  expect(labels(after)).toEqual(['two', 'three', 'four']);
});

test('a stream that breaks before its replay arrived loses nothing', async () => {
  const { url } = await startServer();
  const stream = await listen(url, 'member');
  const place = stream.lastId;
  await happen('admin', 'missed');
  await waitUntil(() => stream.messages.length === 1);
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${person('member').apiKey}`, 'last-event-id': place },
  });
  const reader = response.body!.getReader();
  const firstBytes = new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  expect(firstBytes.split('\n')[0]).toBe(`id: ${place}`);
});

test('a revoked key is cut off within five seconds; lost rights stop the events', async () => {
  const { url } = await startServer();
  const [revoked, demoted] = [await listen(url, 'admin'), await listen(url, 'member')];
  const started = Date.now();
  const user = (key: string) =>
    events.db.selectFrom('users').select('id').where('email', '=', person(key).email);
  await events.db
    .updateTable('api_keys')
    .set({ revoked_at: new Date() })
    .where('user_id', '=', user('admin'))
    .execute();
  await events.db.deleteFrom('permission_bindings').where('user_id', '=', user('member')).execute();
  await revoked.ended;
  expect(Date.now() - started).toBeLessThan(30_000);
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, 4500 - (Date.now() - started))));
  await happen('admin', 'secret by now');
  const witness = await listen(url, 'other');
  await happen('other', 'mark');
  await waitUntil(() => witness.messages.length === 1);
  expect(labels(demoted)).toEqual([]);
});

/** As if authentication were down: the checks of running streams fail. */
async function breakChecks(): Promise<() => Promise<void>> {
  await sql`revoke select on api_keys from gpuaas_auth`.execute(events.db);
  return async () => void (await sql`grant select on api_keys to gpuaas_auth`.execute(events.db));
}

const after = (ms: number, since: number) =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, since + ms - Date.now())));

test('without a recheck nothing more is sent after three seconds, and the stream ends after five', async () => {
  const { url } = await startServer();
  const stream = await listen(url, 'member');
  const started = Date.now();
  await breakChecks();
  await happen('admin', 'while it is known');
  await waitUntil(() => stream.messages.length === 1);
  await after(3200, started);
  await happen('admin', 'while it is not');
  await stream.ended;
  expect(Date.now() - started).toBeGreaterThan(3500);
  expect(Date.now() - started).toBeLessThan(30_000);
  expect(labels(stream)).toEqual(['while it is known']);
});

test('events during a failed recheck are sent, in order, when one succeeds', async () => {
  const { url } = await startServer();
  const stream = await listen(url, 'member');
  const started = Date.now();
  const repair = await breakChecks();
  await after(3200, started);
  await happen('admin', 'one');
  await happen('admin', 'two');
  await after(3500, started);
  expect(labels(stream)).toEqual([]);
  await repair();
  await waitUntil(() => stream.messages.length === 2);
  expect(labels(stream)).toEqual(['one', 'two']);
  // The limit counts from the last good recheck.
  await after(6000, started);
  await happen('admin', 'three');
  await waitUntil(() => stream.messages.length === 3);
});

test('the SDK continues after a restart of the server, with nothing lost and nothing twice', async () => {
  const first = await startServer();
  const { origin, port } = new URL(first.url);
  const ended = new AbortController();
  const heard: unknown[] = [];
  const statuses: string[] = [];
  const reading = (async () => {
    const stream = subscribeEvents({
      baseUrl: origin,
      apiKey: person('member').apiKey,
      signal: ended.signal,
      onStatus: (status) => void statuses.push(status),
    });
    for await (const event of stream) heard.push(event.payload['message']);
  })();
  await waitUntil(() => statuses.includes('open'));
  await happen('admin', 'before');
  await waitUntil(() => heard.length === 1);
  await first.stop();
  await happen('admin', 'while nobody listens');
  await startServer(Number(port));
  await happen('admin', 'after');
  await waitUntil(() => heard.length >= 3, 60_000);
  expect(heard).toEqual(['before', 'while nobody listens', 'after']);
  expect(statuses).toContain('reconnecting');
  ended.abort();
  await reading;
});

const tight: StreamBounds = { drainMs: 1000, maxBytes: 1024 * 1024, maxWaiting: 20, maxWaitingBytes: 1e6 };

/** A client that requests everything and reads nothing. */
async function openStalled(url: string, key: string): Promise<Socket> {
  const { port, pathname } = new URL(url);
  const socket = connect({ host: '127.0.0.1', port: Number(port) });
  await once(socket, 'connect');
  socket.pause();
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${person(key).apiKey}\r\nlast-event-id: 0-0\r\n\r\n`,
  );
  return socket;
}

test('a reader that stops reading in the middle of a replay is cut off, and leaves no listeners behind', async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', onWarning);
  const long = 'x'.repeat(800);
  const { organizationId, projectId } = person('admin');
  await sql`
    insert into outbox_events (event_id, event_type, subject_id, organization_id, correlation_id, payload)
    select gen_random_uuid(), 'allocation.active', gen_random_uuid(), ${organizationId}, gen_random_uuid(),
      jsonb_build_object('project_id', ${projectId}::text, 'message', ${long}::text)
    from generate_series(1, 15_000)`.execute(events.db);
  const { url } = await startServer(0, tight);
  const socket = await openStalled(url, 'admin');
  const gone = new Promise((resolve) => socket.on('close', resolve));
  // The kernel reports the end only to a reader; a write shows it, too.
  const poke = setInterval(() => socket.write('\r\n'), 200);
  socket.on('error', () => undefined);
  await gone;
  clearInterval(poke);
  process.off('warning', onWarning);
  expect(warnings).not.toContain('MaxListenersExceededWarning');
});

test('other requests do not wait for a stream, and its backlog is bounded', async () => {
  const { url } = await startServer(0, tight);
  const stream = await listen(url, 'member');
  const started = Date.now();
  const repair = await breakChecks();
  await after(3100, started);
  await happen('other', ...Array.from({ length: 40 }, () => 'not yours'));
  await happen('admin', 'yours');
  await repair();
  await waitUntil(() => stream.messages.length === 1);
  const again = Date.now();
  await breakChecks();
  await after(3100, again);
  await happen('admin', ...Array.from({ length: 21 }, (_, count) => `event ${count}`));
  await stream.ended;
  expect(stream.cut).toBe(true);
});
