import { sql } from 'kysely';
import type { Db } from '../database.ts';

export async function platformRoles(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select rolname as name from pg_roles where rolname like 'gpuaas\_%' order by 1`.execute(db);
  return rows.map((row) => row.name);
}

/** Tables of ours without their partitions. */
export async function platformTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`.execute(
    db,
  );
  return rows.map((row) => row.name);
}

/** Tables with a tenant column, and all that refer to one of those, to any depth. */
export async function tenantTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with recursive tenant (oid) as (
      select 'public.organizations'::regclass::oid
      union
      select a.attrelid from pg_attribute a join pg_class c on c.oid = a.attrelid
      where a.attname = 'organization_id' and not a.attisdropped and c.relnamespace = 'public'::regnamespace
        and c.relkind in ('r', 'p') and not c.relispartition
      union
      -- A slot references its last wipe but belongs to the platform; people may have a home organization but
      -- belong to no tenant.
      select k.conrelid from pg_constraint k join tenant on tenant.oid = k.confrelid
      where k.contype = 'f' and k.conrelid not in ('public.node_resource_slots'::regclass, 'public.users'::regclass)
    )
    select oid::regclass::text as name from tenant order by 1`.execute(db);
  return rows.map((row) => row.name);
}

/** Columns with this privilege of the role, without generated ones. */
export async function columnsWithPrivilege(
  db: Db,
  role: string,
  table: string,
  privilege: 'select' | 'insert' | 'update',
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select quote_ident(attname) as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
      and (${privilege} = 'select' or attidentity = '')
      and has_column_privilege(${role}, attrelid, attnum, ${privilege}) order by attnum`.execute(db);
  return rows.map((row) => row.name);
}

/** Append-only tables: they have a trigger on update and delete. */
export async function appendOnlyTables(db: Db): Promise<{ name: string; isPartition: boolean }[]> {
  const UPDATE_AND_DELETE = 8 + 16;
  const { rows } = await sql<{ name: string; isPartition: boolean }>`
    select c.relname as name, c.relispartition as "isPartition"
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where t.tgfoid = 'public.forbid_change'::regproc and t.tgtype::integer & ${UPDATE_AND_DELETE} = ${UPDATE_AND_DELETE}
    order by 1`.execute(db);
  return rows;
}
