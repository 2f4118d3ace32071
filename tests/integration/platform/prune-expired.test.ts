import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type Database, type Db } from '@gpuaas/control-plane/platform/db/database';
import { pruneExpired } from '@gpuaas/control-plane/platform/db/prune-expired';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { writeTenantRows, type TenantRows } from '@gpuaas/control-plane/platform/db/testing/tenant-rows';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { fixedPolicies } from '@gpuaas/control-plane/platform/policy/testing';
import { domainModules } from '@gpuaas/control-plane/roles/domain-modules';

let database: Database;
let owner: Db;
let worker: Db;
let drop: () => Promise<void>;

beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.url);
  owner = database.db;
  worker = servicesAsRole({ db: owner, database }, 'gpuaas_worker').db;
});
afterAll(async () => {
  await database.close();
  await drop();
});

const marks = {
  idempotency_keys: 'key',
  sign_ins: 'csrf_token',
  pending_logins: 'nonce',
  terminal_tokens: `encode(token_hash, 'escape')`,
  handled_events: 'consumer',
};

/** One row marked `mark` in each table; expired if `left` is negative. */
async function write({ userId, allocationId }: TenantRows, mark: string, left: string): Promise<void> {
  const end = sql`now() + ${left}::interval`;
  await sql`insert into idempotency_keys (caller_id, key, operation, request_hash, created_at)
    values (${userId}, ${mark}, 'o', '', ${end} - interval '48 hours')`.execute(owner);
  await sql`insert into sign_ins (id_hash, user_id, csrf_token, expires_at)
    values (${Buffer.from(mark)}, ${userId}, ${mark}, ${end})`.execute(owner);
  await sql`insert into pending_logins (state_hash, code_verifier, nonce, return_to, expires_at)
    values (${Buffer.from(mark)}, 'c', ${mark}, '/', ${end})`.execute(owner);
  await sql`insert into terminal_tokens (token_hash, allocation_id, user_id, credential, correlation_id, expires_at)
    values (${Buffer.from(mark)}, ${allocationId}, ${userId}, '{}', ${newId()}, ${end})`.execute(owner);
  await sql`insert into handled_events (consumer, event_id, handled_at)
    values (${mark}, ${newId()}, ${end} - interval '14 days')`.execute(owner);
}

async function marked(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [table, column] of Object.entries(marks)) {
    const { rows } = await sql<{ mark: string }>`
      select ${sql.raw(column)} as mark from ${sql.table(table)}
      where ${sql.raw(column)} in ('over', 'not over') order by 1`.execute(owner);
    found[table] = rows.map((row) => row.mark);
  }
  return found;
}

const everywhere = (...left: string[]) =>
  Object.fromEntries(Object.keys(marks).map((table) => [table, left]));

test('what has expired goes, and nothing else', async () => {
  const tenant = await writeTenantRows(owner, 'one');
  await write(tenant, 'over', '-1 minute');
  await write(tenant, 'not over', '1 minute');
  expect(await marked()).toEqual(everywhere('not over', 'over'));
  const prune = pruneExpired(domainModules.flatMap(({ retention = [] }) => retention));
  await prune.run({ db: worker, policies: fixedPolicies() }, { from: new Date(), to: new Date() });
  expect(await marked()).toEqual(everywhere('not over'));
});

test('a worker that forgets its WHERE signs nobody out', async () => {
  await sql`delete from sign_ins`.execute(worker);
  await sql`delete from pending_logins`.execute(worker);
  expect(await marked()).toMatchObject({ sign_ins: ['not over'], pending_logins: ['not over'] });
});
