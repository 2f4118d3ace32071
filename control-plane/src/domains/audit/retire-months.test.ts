import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newAuditKey, sealAll, writeRows } from '../../platform/audit/testing/audit-rows.ts';
import { verifyAudit } from '../../platform/audit/verify.ts';
import { systemClock } from '../../platform/clock.ts';
import { openDatabase, type Database, type Db } from '../../platform/db/database.ts';
import { servicesAsRole } from '../../platform/db/scope.ts';
import { createTestDatabase } from '../../platform/db/testing.ts';
import { newId } from '../../platform/ids.ts';
import type { PlatformKeys } from '../../platform/keys/platform-keys.ts';
import { fixedPolicies } from '../../platform/policy/testing.ts';
import { retireAuditMonths } from './retire-months.ts';

const audit = newAuditKey();
let database: Database;
let owner: Db;
let drop: () => Promise<void>;

beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.url, { max: 4 });
  owner = database.db;
  await sql`select create_month_partitions('2020-05-15', 0)`.execute(owner);
  await writeRows(owner, 20, `'2020-04-30 23:00Z'`);
  await writeRows(owner, 30, `'2020-05-15'`);
  await writeRows(owner, 5);
});
afterAll(async () => {
  await database.close();
  await drop();
});

function retire(): Promise<string[]> {
  const { db } = servicesAsRole({ db: owner, database }, 'gpuaas_worker');
  const policies = fixedPolicies({ 'audit.retention_months': 13 });
  return retireAuditMonths({ db, policies, clock: systemClock, keys: { audit } as PlatformKeys });
}

async function confirmExport(month: string): Promise<void> {
  await sql`insert into audit_exports (month, last_segment, row_count, head_hash, confirmed_by)
    select month, max(segment), sum(row_count), (array_agg(head_hash order by segment desc))[1], ${newId()}::uuid
    from audit_segments where month = ${month}::date group by month`.execute(owner);
}

test('a month goes when it is old, sealed and exported, and the log still verifies', async () => {
  expect(await retire()).toEqual([]);
  await sealAll(owner, audit, 55);
  expect(await retire()).toEqual([]);
  await confirmExport('2020-04-01');
  expect(await retire()).toEqual(['2020-04-01']);
  const { rows } = await sql<{ months: string[] }>`
    select array_agg(distinct to_char(occurred_at at time zone 'UTC', 'YYYY-MM')) as months
    from audit_logs where occurred_at < '2021-01-01'`.execute(owner);
  expect(rows[0]!.months).toEqual(['2020-05']);
  await sealAll(owner, audit, 56);
  expect(await verifyAudit(owner, { publicKey: audit.publicPem })).toMatchObject({
    findings: [],
    rows: 56,
    retiredRows: 20,
  });
});

test('a month with a row that its export does not hold stays', async () => {
  await confirmExport('2020-05-01');
  await writeRows(owner, 1, `'2020-05-31 23:59Z'`);
  expect(await retire()).toEqual([]);
  await sealAll(owner, audit, 57);
  expect(await retire()).toEqual([]);
});

test('no role can drop a month with rows without a retirement', async () => {
  const { db } = servicesAsRole({ db: owner, database }, 'gpuaas_worker');
  const { rows } = await sql`select drop_month_partitions('audit_logs', '2021-01-01')`.execute(db);
  expect(rows).toEqual([]);
});
