import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type Database, type Db } from './database.ts';
import { inScope, type DatabaseRole } from './scope.ts';
import { columnsWithPrivilege, platformRoles, platformTables, tenantTables } from './testing/catalog.ts';
import {
  securityDefinerFunctions,
  unrestrictedPolicies,
  rolesWithoutRowSecurity,
  tablesWithSharedRows,
  ownerOnlyTables,
  tenantTablesWithoutRowSecurity,
} from './testing/reviewed-access.ts';
import { writeTenantRows, type TenantRows } from './testing/tenant-rows.ts';
import { createTestDatabase } from './testing.ts';

let database: Database;
let owner: Db;
let drop: () => Promise<void>;
let one: TenantRows;
let other: TenantRows;

beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.url);
  owner = database.db;
  one = await writeTenantRows(owner, 'one');
  other = await writeTenantRows(owner, 'other');
});
afterAll(async () => {
  await database.close();
  await drop();
});

const asTenant = <T>(organizationIds: string[], work: Parameters<typeof inScope<T>>[2]): Promise<T> =>
  inScope(owner, { role: 'gpuaas_tenant', organizationIds }, work);

async function rowsOf(organizationIds: string[], table: string, columns: string[]): Promise<string[]> {
  const { rows } = await asTenant(organizationIds, (tx) =>
    sql<{
      row: string;
    }>`select row(${sql.raw(columns.join(', '))})::text as row from ${sql.table(table)}`.execute(tx),
  );
  return rows.map(({ row }) => row);
}

/** Undone afterwards, so that each table is tried with all its rows. */
class Undo extends Error {}

async function affected(table: string, statement: string): Promise<bigint | undefined> {
  let count: bigint | undefined;
  await asTenant([one.organizationId], async (tx) => {
    count = (await sql.raw(statement).execute(tx)).numAffectedRows;
    throw new Undo(table);
  }).catch((error: unknown) => {
    if (!(error instanceof Undo)) throw error;
  });
  return count;
}

/** Rows visible to all: those of no tenant, where that was reviewed. */
async function sharedCount(table: string): Promise<number> {
  if (!(table in tablesWithSharedRows)) return 0;
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from ${sql.table(table)} where organization_id is null`.execute(owner);
  return Number(rows[0]!.count);
}

describe('a tenant whose query forgets its WHERE', () => {
  test('sees its own rows of every tenant table, and no others', async () => {
    const seen: Record<string, number> = {};
    for (const table of await tenantTables(owner)) {
      const all = await owner
        .selectNoFrom(sql<bigint>`(select count(*) from ${sql.table(table)})`.as('count'))
        .executeTakeFirstOrThrow();
      expect(all.count, `the test must write rows of two tenants into ${table}`).toBeGreaterThanOrEqual(2n);
      const columns = await columnsWithPrivilege(owner, 'gpuaas_tenant', table, 'select');
      if (columns.length === 0) {
        await expect(
          asTenant([one.organizationId], (tx) => sql`select from ${sql.table(table)}`.execute(tx)),
        ).rejects.toThrow('permission denied');
        continue;
      }
      const shared = await rowsOf([], table, columns);
      expect(shared.length, `${table} without a scope`).toBe(await sharedCount(table));
      const tenantRows = async (...organizationIds: string[]): Promise<string[]> =>
        (await rowsOf(organizationIds, table, columns)).filter((row) => !shared.includes(row));
      const [mine, theirs] = [await tenantRows(one.organizationId), await tenantRows(other.organizationId)];
      expect(mine.length, table).toBeGreaterThan(0);
      expect(BigInt(mine.length + theirs.length + shared.length), table).toBe(all.count);
      expect(
        mine.filter((row) => theirs.includes(row)),
        table,
      ).toEqual([]);
      expect(await tenantRows(one.organizationId, other.organizationId)).toHaveLength(
        mine.length + theirs.length,
      );
      seen[table] = mine.length;
    }
    expect(Object.keys(seen)).toEqual(
      expect.arrayContaining([
        'organizations',
        'projects',
        'allocations',
        'wipe_certificates',
        'audit_logs',
        'outbox_events',
        'terminal_tokens',
        'webhooks',
      ]),
    );
  });

  test('changes and deletes its own rows only', async () => {
    const changed: string[] = [];
    for (const table of await tenantTables(owner)) {
      const [column] = await columnsWithPrivilege(owner, 'gpuaas_tenant', table, 'update');
      if (column) {
        expect(await affected(table, `update ${table} set ${column} = ${column}`), table).toBe(1n);
        changed.push(table);
      }
      const { rows } = await sql<{
        may: boolean;
      }>`select has_table_privilege('gpuaas_tenant', ${table}, 'delete') as may`.execute(owner);
      if (rows[0]!.may) expect(await affected(table, `delete from ${table}`), table).toBe(1n);
    }
    expect(changed).toContain('allocations');
  });

  test('cannot write a row for another tenant', async () => {
    const tried: string[] = [];
    for (const table of await tenantTables(owner)) {
      const columns = (await columnsWithPrivilege(owner, 'gpuaas_tenant', table, 'insert')).join(', ');
      if (columns === '') continue;
      const { rows } = await sql<{
        row: string;
      }>`select to_jsonb(t)::text as row from ${sql.table(table)} t`.execute(owner);
      const foreign = rows.filter(({ row }) => Object.values(other).some((id) => row.includes(id)));
      expect(foreign, table).toHaveLength(1);
      for (const { row } of foreign) {
        const copy = sql`insert into ${sql.table(table)} (${sql.raw(columns)})
          select ${sql.raw(columns)} from jsonb_populate_record(null::${sql.table(table)}, ${row}::jsonb)`;
        const refusal = asTenant([one.organizationId], (tx) => copy.execute(tx));
        await expect(refusal, table).rejects.toThrow('violates row-level security policy');
      }
      tried.push(table);
    }
    expect(tried).toEqual(
      expect.arrayContaining(['allocations', 'audit_logs', 'outbox_events', 'terminal_tokens', 'webhooks']),
    );
  });

  test('cannot move its own row to another tenant', async () => {
    const move = sql`update webhooks set organization_id = ${other.organizationId}`;
    await expect(asTenant([one.organizationId], (tx) => move.execute(tx))).rejects.toThrow(
      'violates row-level security policy',
    );
  });
});

test('idempotency keys are seen by the caller who sent them alone', async () => {
  for (const role of ['gpuaas_tenant', 'gpuaas_operator'] as const) {
    const callers = (callerId?: string) =>
      inScope(owner, { role, ...(callerId ? { callerId } : {}) }, (tx) =>
        tx.selectFrom('idempotency_keys').select('caller_id').execute(),
      );
    expect(await callers(one.userId)).toEqual([{ caller_id: one.userId }]);
    expect(await callers()).toEqual([]);
  }
});

test('notifications and the choice of them are seen by their person alone', async () => {
  for (const table of ['notifications', 'notification_preferences'] as const) {
    const people = (callerId?: string) =>
      inScope(
        owner,
        {
          role: 'gpuaas_tenant',
          organizationIds: [one.organizationId, other.organizationId],
          ...(callerId ? { callerId } : {}),
        },
        (tx) => tx.selectFrom(table).select('user_id').execute(),
      );
    expect(await people(one.userId)).toEqual([{ user_id: one.userId }]);
    expect(await people()).toEqual([]);
  }
});

test('a node sees its own tasks and the allocations on it, and emits events for no others', async () => {
  const asNode = <T>(work: Parameters<typeof inScope<T>>[2]): Promise<T> =>
    inScope(owner, { role: 'gpuaas_node', nodeId: one.nodeId }, work);
  expect(await asNode((tx) => tx.selectFrom('node_tasks').select('node_id').execute())).toEqual([
    { node_id: one.nodeId },
  ]);
  expect(await asNode((tx) => tx.selectFrom('allocations').select('id').execute())).toEqual([
    { id: one.allocationId },
  ]);
  const tell = (rows: TenantRows) =>
    asNode((tx) =>
      sql`select emit_event(gen_random_uuid(), 'allocation.progress', gen_random_uuid(), ${rows.organizationId}, ${rows.allocationId}, '{}')`.execute(
        tx,
      ),
    );
  await tell(one);
  await expect(tell(other)).rejects.toThrow('violates row-level security policy');
});

test('placement claims slots for the tenant that launches alone', async () => {
  const claimFor = (rows: TenantRows) =>
    inScope(owner, { role: 'gpuaas_placement', organizationIds: [one.organizationId] }, (tx) =>
      sql`insert into allocation_resource_claims (id, allocation_id, node_id, claim_kind, snapshot, released_at)
        values (gen_random_uuid(), ${rows.allocationId}, ${rows.nodeId}, 'node_exclusive', '{}', now())`.execute(
        tx,
      ),
    );
  await claimFor(one);
  await expect(claimFor(other)).rejects.toThrow('violates row-level security policy');
});

describe('what is reviewed', () => {
  test('every tenant table has row-level security', async () => {
    const { rows } = await sql<{ name: string }>`
      select oid::regclass::text as name from pg_class where oid = any (${await tenantTables(owner)}::regclass[]) and not relrowsecurity`.execute(
      owner,
    );
    expect(rows.map((row) => row.name)).toEqual(Object.keys(tenantTablesWithoutRowSecurity));
  });

  test('no role of ours bypasses it, logs in or may make others', async () => {
    const { rows } = await sql<{ name: string; ours: boolean }>`
      select rolname as name, rolname like 'gpuaas\_%' as ours from pg_roles
      where rolname !~ '^pg_' and (rolsuper or rolbypassrls or (rolname like 'gpuaas\_%' and (rolcanlogin or rolcreaterole or rolcreatedb or rolreplication)))`.execute(
      owner,
    );
    expect(rows.filter((row) => row.ours)).toEqual([]);
    expect(rows).toHaveLength(Object.keys(rolesWithoutRowSecurity).length);
    const { rows: members } = await sql`
      select from pg_auth_members m where m.member in (select oid from pg_roles where rolname like 'gpuaas\_%')`.execute(
      owner,
    );
    expect(members).toEqual([]);
  });

  test('policies that hold for every row', async () => {
    const { rows } = await sql<{ found: string }>`
      select distinct tablename || ': ' || policyname || ': ' || role as found
      from pg_policies, unnest(roles) as role
      where schemaname = 'public' and (qual = 'true' or with_check = 'true')`.execute(owner);
    expect(rows.map((row) => row.found).toSorted()).toEqual(Object.keys(unrestrictedPolicies).toSorted());
  });

  test('functions that run as the owner, and their callers', async () => {
    const { rows } = await sql<{ name: string; roles: string[] }>`
      select p.proname as name, array_agg(substr(r.rolname, 8)::text order by r.rolname) as roles
      from pg_proc p, pg_roles r
      where p.pronamespace = 'public'::regnamespace and p.prosecdef and p.prorettype <> 'trigger'::regtype
        and r.rolname like 'gpuaas\\_%' and has_function_privilege(r.oid, p.oid, 'execute')
      group by 1`.execute(owner);
    const everybody = (await platformRoles(owner)).length;
    const found = rows.map(({ name, roles }) => [
      name,
      roles.length === everybody ? 'everybody' : roles.join(', '),
    ]);
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(
        Object.entries(securityDefinerFunctions).map(([name, { callers }]) => [name, callers]),
      ),
    );
  });

  test('every policy names its roles', async () => {
    const { rows } = await sql<{ policyname: string }>`
      select policyname from pg_policies where schemaname = 'public' and 'public' = any (roles)`.execute(
      owner,
    );
    expect(rows).toEqual([]);
  });

  test('tables no role may touch; nothing is granted to public, and nothing on a partition', async () => {
    const roles = await platformRoles(owner);
    const { rows } = await sql<{ name: string; grantee: string; partition: boolean }>`
      select distinct c.relname as name, case g.grantee when 0 then 'public' else pg_get_userbyid(g.grantee) end as grantee, c.relispartition as partition
      from pg_class c left join pg_attribute a on a.attrelid = c.oid,
        lateral (select * from aclexplode(c.relacl) union all select * from aclexplode(a.attacl)) g
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S') and g.grantee <> c.relowner`.execute(
      owner,
    );
    expect(rows.filter((row) => !roles.includes(row.grantee) || row.partition)).toEqual([]);
    const untouched = (await platformTables(owner)).filter(
      (table) => !rows.some((row) => row.name === table),
    );
    expect(untouched.toSorted()).toEqual(Object.keys(ownerOnlyTables).toSorted());
  });

  test('the roles the platform knows are the roles there are', async () => {
    const known: Record<DatabaseRole, true> = {
      gpuaas_app_runtime: true,
      gpuaas_auth: true,
      gpuaas_blobs: true,
      gpuaas_gateway: true,
      gpuaas_node: true,
      gpuaas_operator: true,
      gpuaas_placement: true,
      gpuaas_relay: true,
      gpuaas_tenant: true,
      gpuaas_worker: true,
    };
    expect(await platformRoles(owner)).toEqual(Object.keys(known));
  });
});
