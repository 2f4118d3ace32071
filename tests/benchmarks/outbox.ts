/**
 * Events written, read from the log and carried by NATS, on an embedded Postgres with its durable settings.
 * `npm run bench:outbox [count]`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { openDatabase, type Db, type Tx } from '@gpuaas/control-plane/platform/db/database';
import { startEmbeddedPostgres } from '@gpuaas/control-plane/platform/db/embedded-postgres';
import { Listener } from '@gpuaas/control-plane/platform/db/listener';
import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { listConsumerLag } from '@gpuaas/control-plane/platform/events/consumer-lag';
import type { Bus, Consumer } from '@gpuaas/control-plane/platform/events/consumer';
import { EmbeddedBus } from '@gpuaas/control-plane/platform/events/embedded-bus';
import { emit, EVENTS_CHANNEL } from '@gpuaas/control-plane/platform/events/emit';
import { handleOnce } from '@gpuaas/control-plane/platform/events/handle-once';
import { NatsBus } from '@gpuaas/control-plane/platform/events/nats-bus';
import { RELAY, startRelay } from '@gpuaas/control-plane/platform/events/nats-relay';
import { natsServerInstalled, startNatsServer } from '@gpuaas/control-plane/platform/events/nats-testing';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';

const COUNT = Math.min(Number(process.argv[2] ?? 5000), 50_000);
const WRITERS = 8;
const SUBJECTS = 200;
const LATENCY_EVENTS = 200;
/** Each part ends within this time. */
const LIMIT_MS = 60_000;

const subjects = Array.from({ length: SUBJECTS }, newId);
const log = createLogger('bench');
log.level = 'error';

const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-bench-'));
const postgres = await startEmbeddedPostgres({ dataDir });
try {
  await migrate(postgres.url);
  const database = openDatabase(postgres.url);
  const listener = new Listener(postgres.url, [EVENTS_CHANNEL]);
  await listener.start();
  try {
    await measure(database.db, listener);
  } finally {
    await listener.close();
    await database.close();
  }
} finally {
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function measure(db: Db, listener: Listener): Promise<void> {
  say(
    `load before ${load()} on ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${COUNT} events, ${WRITERS} writers`,
  );
  const bare = await writeRate(db, (tx, subject) => bareInsert(tx, subject));
  const one = await writeRate(db, (tx, subject) => tell(tx, subject));
  say(`bare insert       ${perSecond(bare)}  one row, one transaction, no order, no wake-up`);
  say(
    `emit              ${perSecond(one)}  one event, one transaction: ${ratio(one, bare)} of the bare insert`,
  );

  const embedded = (): Bus => new EmbeddedBus(db, listener, log);
  const read = await readRate(embedded(), 'bench-read', COUNT * 2, () => Promise.resolve());
  say(`embedded consume  ${perSecond(read)}  handler that does nothing: ${ratio(read, one)} of emit`);
  const effects = await readRate(embedded(), 'bench-once', Math.min(COUNT, 2000), async (event) => {
    await db
      .transaction()
      .execute((tx) => handleOnce(tx, 'bench-once', event.envelope.event_id, () => Promise.resolve()));
  });
  say(`… with handleOnce ${perSecond(effects)}  one transaction per event`);
  say(`embedded latency  ${await latency(db, embedded(), 'bench-latency')}`);

  if (!natsServerInstalled) say('NATS              not run here: nats-server is not installed');
  else await measureNats(db, listener, read);
  say(`load after ${load()}`);
}

async function measureNats(db: Db, listener: Listener, embeddedRate: number): Promise<void> {
  const nats = await startNatsServer();
  const relay = () => startRelay({ db, listener, log, natsUrl: nats.url });
  try {
    let running = await relay();
    const bus = new NatsBus(db, log, nats.url);
    let seen = 0;
    await bus.consume({
      name: 'bench-nats',
      startFrom: 'now',
      handle: () => Promise.resolve(void (seen += 1)),
    });
    // One event through, so that both ends stand at the head of the stream, then a pile for the relay.
    await pause(500);
    await transact(db, (tx) => tell(tx, subjects[0]!));
    await reach(() => seen >= 1);
    await running.stop();
    await pile(db, COUNT);
    const started = performance.now();
    running = await relay();
    await reach(() => seen > COUNT);
    await reach(
      async () => (await listConsumerLag(db)).find(({ name }) => name === RELAY)?.eventsBehind === 0,
    );
    const rate = COUNT / ((performance.now() - started) / 1000);
    say(
      `relay → NATS → us ${perSecond(rate)}  published and consumed: ${ratio(rate, embeddedRate)} of embedded consume`,
    );
    await bus.close();
    say(`NATS latency      ${await latency(db, new NatsBus(db, log, nats.url), 'bench-nats-latency')}`);
    await running.stop();
  } finally {
    await nats.stop();
  }
}

async function writeRate(db: Db, write: (tx: Tx, subject: string) => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await inParallel(WRITERS, COUNT, (index) => transact(db, (tx) => write(tx, subjects[index % SUBJECTS]!)));
  return COUNT / ((performance.now() - started) / 1000);
}

async function readRate(bus: Bus, name: string, count: number, handle: Consumer['handle']): Promise<number> {
  let seen = 0;
  const started = performance.now();
  await bus.consume({
    name,
    startFrom: 'beginning',
    handle: async (event) => {
      if (seen < count) await handle(event);
      seen += 1;
    },
  });
  await reach(() => seen >= count);
  const rate = count / ((performance.now() - started) / 1000);
  await bus.close();
  return rate;
}

/** From just before the transaction until the handler, one event at a time. */
async function latency(db: Db, bus: Bus, name: string): Promise<string> {
  const handled = new Map<string, number>();
  await bus.consume({
    name,
    startFrom: 'now',
    handle: (event) => Promise.resolve(void handled.set(event.envelope.event_id, performance.now())),
  });
  await pause(1500);
  const emitted = new Map<string, number>();
  for (let index = 0; index < LATENCY_EVENTS; index += 1) {
    const started = performance.now();
    emitted.set(await transact(db, (tx) => tell(tx, subjects[index % SUBJECTS]!)), started);
    await pause(5);
  }
  await reach(() => [...emitted.keys()].every((id) => handled.has(id)));
  await bus.close();
  const took = [...emitted].map(([id, started]) => handled.get(id)! - started);
  took.sort((a, b) => a - b);
  const at = (share: number): string => (took[Math.floor(took.length * share)] ?? Number.NaN).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms over ${took.length} events`;
}

function tell(tx: Tx, subject: string): Promise<string> {
  return emit(tx, {
    type: 'node.task_changed',
    subjectId: subject,
    organizationId: null,
    correlationId: newId(),
    payload: { task_id: subject, node_id: subject, kind: 'slice.vm_provision', state: 'claimed' },
  });
}

/** Many events in one transaction. */
async function pile(db: Db, count: number): Promise<void> {
  const payload = { task_id: newId(), node_id: newId(), kind: 'slice.vm_provision', state: 'claimed' };
  await sql`select emit_event(gen_random_uuid(), 'node.task_changed', gen_random_uuid(), null, gen_random_uuid(),
    ${JSON.stringify(payload)}) from generate_series(1, ${count}::int)`.execute(db);
}

async function bareInsert(tx: Tx, subject: string): Promise<void> {
  const payload = JSON.stringify({
    task_id: subject,
    node_id: subject,
    kind: 'slice.vm_provision',
    state: 'claimed',
  });
  await sql`insert into outbox_events (event_id, event_type, correlation_id, subject_id, payload)
    values (${newId()}, 'node.task_changed', ${newId()}, ${subject}, ${payload})`.execute(tx);
}

function transact<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction().execute(work);
}

async function inParallel(
  workers: number,
  count: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const deadline = Date.now() + LIMIT_MS;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (next < count) {
        if (Date.now() > deadline)
          throw new Error(`only ${next} of ${count} were written in ${LIMIT_MS / 1000} s`);
        next += 1;
        await work(next);
      }
    }),
  );
}

async function reach(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not reached in ${LIMIT_MS / 1000} s`);
    await pause(2);
  }
}

function perSecond(rate: number): string {
  return `${Math.round(rate)}/s`.padStart(9);
}

function ratio(part: number, whole: number): string {
  return `${Math.round((100 * part) / whole)} %`;
}

function load(): string {
  return loadavg()[0]!.toFixed(1);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
