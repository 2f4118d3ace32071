import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type Database } from '../db/database.ts';
import { Listener } from '../db/listener.ts';
import { writeTenantRows } from '../db/testing/tenant-rows.ts';
import { createTestDatabase } from '../db/testing.ts';
import { createLogger } from '../telemetry/logger.ts';
import { POLICIES_CHANNEL, PolicyClient } from './client.ts';

const KEY = 'terminal.token_ttl_seconds';
const log = createLogger('test');
log.level = 'silent';

/** One process: its own connections, its own LISTEN, its own memory. */
class Replica {
  readonly database: Database;
  readonly listener: Listener;
  policies!: PolicyClient;

  constructor(url: string) {
    this.database = openDatabase(url, { max: 2 });
    this.listener = new Listener(url, [POLICIES_CHANNEL]);
  }

  async start(rereadMs: number): Promise<void> {
    await this.listener.start();
    const { db } = this.database;
    this.policies = await PolicyClient.open({ db, listener: this.listener, log, rereadMs });
  }

  async stop(): Promise<void> {
    await this.policies.close();
    await this.listener.close();
    await this.database.close();
  }
}

const NEVER_MS = 3_600_000;
let url: string;
let drop: () => Promise<void>;
let one: Replica;
let other: Replica;

beforeAll(async () => {
  ({ url, drop } = await createTestDatabase());
  one = new Replica(url);
  other = new Replica(url);
  await one.start(NEVER_MS);
  await other.start(NEVER_MS);
});
afterAll(async () => {
  await Promise.all([one.stop(), other.stop()]);
  await drop();
});

async function setGlobally(seconds: number): Promise<void> {
  await sql`insert into policy_values (key, value) values (${KEY}, ${JSON.stringify(seconds)})
    on conflict (key, organization_id, project_id) do update set value = excluded.value`.execute(
    one.database.db,
  );
}

async function eventually(holds: () => boolean): Promise<void> {
  for (let waited = 0; !holds(); waited += 20) {
    if (waited > 20_000) throw new Error('it never came to hold');
    await pause(20);
  }
}

test('a change acts in every process without a restart', async () => {
  expect(other.policies.get(KEY)).toBe(300);
  await setGlobally(120);
  await eventually(() => other.policies.get(KEY) === 120 && one.policies.get(KEY) === 120);
  await sql`delete from policy_values`.execute(one.database.db);
  await eventually(() => other.policies.get(KEY) === 300);
});

test('a refresh after a commit includes it, even while an older read is running', async () => {
  for (let seconds = 100; seconds < 130; seconds += 1) {
    const older = one.policies.refresh();
    await setGlobally(seconds);
    await one.policies.refresh();
    expect(one.policies.get(KEY)).toBe(seconds);
    await older;
  }
});

test('a tenant’s value holds in the tenant alone and cannot pass the platform’s', async () => {
  await setGlobally(200);
  const tenant = await writeTenantRows(one.database.db, 'policies');
  await one.policies.refresh();
  const scope = { organizationId: tenant.organizationId };
  expect(one.policies.explain(KEY, scope)).toEqual({ value: 60, source: 'tenant', clamped: false });
  expect(one.policies.get(KEY)).toBe(200);
  await setGlobally(45);
  await one.policies.refresh();
  expect(one.policies.explain(KEY, scope)).toEqual({ value: 45, source: 'global', clamped: true });
});

test('a process that missed the notification reads again after a while', async () => {
  const deaf = new Replica(url);
  // Receives no notifications.
  deaf.listener.on = () => () => undefined;
  await deaf.start(50);
  try {
    await setGlobally(77);
    await eventually(() => deaf.policies.get(KEY) === 77);
  } finally {
    await deaf.stop();
  }
});

test('a database that does not answer leaves the last known values', async () => {
  await setGlobally(88);
  const alone = new Replica(url);
  await alone.start(NEVER_MS);
  await alone.database.close();
  await expect(alone.policies.refresh()).rejects.toThrow();
  expect(alone.policies.get(KEY)).toBe(88);
  await alone.policies.close();
  await alone.listener.close();
});
