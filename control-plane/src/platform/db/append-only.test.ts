import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type Database, type Db } from './database.ts';
import { inScope, type DatabaseRole } from './scope.ts';
import { appendOnlyTables, platformRoles } from './testing/catalog.ts';
import { writeTenantRows } from './testing/tenant-rows.ts';
import { createTestDatabase } from './testing.ts';

let database: Database;
let owner: Db;
let drop: () => Promise<void>;

beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.url);
  owner = database.db;
  await writeTenantRows(owner, 'one');
});
afterAll(async () => {
  await database.close();
  await drop();
});

/** Each way to change the past of a table. */
async function changesOf(table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select quote_ident(attname) as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and attidentity = '' limit 1`.execute(owner);
  const column = rows[0]!.name;
  return [`update ${table} set ${column} = ${column}`, `delete from ${table}`, `truncate ${table} cascade`];
}

describe('history', () => {
  test('is kept in tables that say so', async () => {
    const tables = (await appendOnlyTables(owner)).filter((table) => !table.isPartition);
    expect(tables.map((table) => table.name)).toEqual([
      'app_usage_prices',
      'app_usage_records',
      'audit_exports',
      'audit_logs',
      'audit_retirements',
      'audit_segments',
      'host_cleanups',
      'image_blessings',
      'issued_certificates',
      'ledger_entries',
      'ledger_transactions',
      'node_burn_ins',
      'outbox_events',
      'policy_changes',
      'statement_transactions',
      'statements',
      'usage_records',
      'wipe_certificates',
    ]);
  });

  test('cannot be changed by any role, nor by the owner', async () => {
    const roles = (await platformRoles(owner)) as DatabaseRole[];
    for (const { name } of await appendOnlyTables(owner)) {
      for (const change of await changesOf(name)) {
        for (const role of roles) {
          const attempt = inScope(owner, { role }, (tx) => sql.raw(change).execute(tx));
          await expect(attempt, `${role}: ${change}`).rejects.toThrow('permission denied');
        }
        await expect(sql.raw(change).execute(owner), change).rejects.toThrow('is append-only');
      }
    }
  });

  test('cannot be dropped by any role', async () => {
    for (const role of (await platformRoles(owner)) as DatabaseRole[]) {
      const attempt = inScope(owner, { role }, (tx) => sql`drop table audit_logs`.execute(tx));
      await expect(attempt, role).rejects.toThrow('must be owner');
    }
  });
});

describe('a claim', () => {
  test('can be ended by a worker, and not changed otherwise', async () => {
    const attempt = (change: string) =>
      inScope(owner, { role: 'gpuaas_worker' }, (tx) => sql.raw(change).execute(tx));
    await expect(attempt('delete from allocation_resource_claims')).rejects.toThrow('permission denied');
    await expect(attempt(`update allocation_resource_claims set snapshot = '{}'`)).rejects.toThrow(
      'permission denied',
    );
    await attempt('update allocation_resource_claims set released_at = now()');
    await expect(attempt('update allocation_resource_claims set released_at = null')).rejects.toThrow(
      'a claim is a snapshot',
    );
  });
});

describe('what a tenant asks for', () => {
  test('is intent; state is written by workers', async () => {
    const state = inScope(owner, { role: 'gpuaas_tenant' }, (tx) =>
      sql`update allocations set state = 'released'`.execute(tx),
    );
    await expect(state).rejects.toThrow('permission denied');
  });
});
