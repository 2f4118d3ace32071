import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import { openDatabase, type Database, type Db } from '../db/database.ts';
import { servicesAsRole } from '../db/scope.ts';
import { createTestDatabase } from '../db/testing.ts';
import { newId } from '../ids.ts';
import { segmentsFrom } from './checkpoint.ts';
import { recordAudit } from './record.ts';
import { sealRows } from './seal.ts';
import { newAuditKey, sealAll, writeRows } from './testing/audit-rows.ts';
import { verifyAudit } from './verify.ts';

const audit = newAuditKey();
let database: Database;
let owner: Db;
let worker: Db;
let drop: () => Promise<void>;

beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.url, { max: 8 });
  owner = database.db;
  worker = servicesAsRole({ db: owner, database }, 'gpuaas_worker').db;
});
afterAll(async () => {
  await database.close();
  await drop();
});

const entry = {
  actorUserId: null,
  actorRole: 'test',
  action: 'test.act',
  targetType: 'thing',
  targetId: '1',
  result: 'succeeded' as const,
};

test('a row of a transaction that is still open holds back later ones, and none is left out', async () => {
  const { promise: hold, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: written, resolve: wrote } = Promise.withResolvers<void>();
  const slow = owner.transaction().execute(async (tx) => {
    await recordAudit(tx, { ...entry, correlationId: newId() });
    wrote();
    await hold;
  });
  await written;
  await recordAudit(owner, { ...entry, correlationId: newId() });
  expect(await sealRows({ db: worker, clock: systemClock, keys: { audit } })).toBe(0);
  letGo();
  await slow;
  await sealAll(worker, audit, 2);
  expect(await verifyAudit(worker, { publicKey: audit.publicPem })).toMatchObject({ findings: [], rows: 2 });
});

test('many concurrent sealers write one chain', async () => {
  for (let part = 0; part < 5; part += 1) await writeRows(owner, 700);
  await Promise.all(Array.from({ length: 4 }, () => sealAll(worker, audit, 3502)));
  const segments = await segmentsFrom(worker, 1n, 100);
  expect(segments.map((row) => row.segment)).toEqual(segments.map((_, index) => BigInt(index + 1)));
  expect(await verifyAudit(worker, { publicKey: audit.publicPem })).toMatchObject({
    findings: [],
    rows: 3502,
  });
});

test('a segment that could not be written leaves its rows to the next try', async () => {
  await writeRows(owner, 10);
  const broken = { ...audit, privateKey: 'no key' as unknown as typeof audit.privateKey };
  await expect
    .poll(() => sealRows({ db: worker, clock: systemClock, keys: { audit: broken } }).catch(() => 'failed'), {
      timeout: 30_000,
    })
    .toBe('failed');
  await sealAll(worker, audit, 3512);
  expect(await verifyAudit(worker, { publicKey: audit.publicPem })).toMatchObject({
    findings: [],
    rows: 3512,
  });
});

test('a segment holds rows of one month', async () => {
  await sql`select create_month_partitions('2021-02-15', 0)`.execute(owner);
  await writeRows(
    owner,
    5,
    `case when n % 2 = 0 then '2021-02-01Z'::timestamptz else '2021-01-31 23:59:59Z' end`,
  );
  await sealAll(worker, audit, 3517);
  const months = (await segmentsFrom(worker, 1n, 100)).map((row) => row.month);
  expect(months).toContain('2021-01-01');
  expect(months).toContain('2021-02-01');
  expect(await verifyAudit(worker, { publicKey: audit.publicPem })).toMatchObject({
    findings: [],
    rows: 3517,
  });
});

test('after a restore on a server with lower transaction ids, new rows come after the old ones', async () => {
  await sql`update audit_clock set base = base - 1000000`.execute(owner);
  await sql`select rebase_audit_log()`.execute(owner);
  await writeRows(owner, 3);
  await sealAll(worker, audit, 3520);
  expect(await verifyAudit(worker, { publicKey: audit.publicPem })).toMatchObject({
    findings: [],
    rows: 3520,
  });
});

test('what is sealed cannot be changed by anybody who works here', async () => {
  for (const statement of ['update audit_segments set row_count = 1', 'delete from audit_segments']) {
    await expect(sql.raw(statement).execute(worker)).rejects.toThrow('permission denied');
    await expect(sql.raw(statement).execute(owner)).rejects.toThrow('append-only');
  }
});
