import { sql } from 'kysely';
import type { Db } from '../database.ts';

export async function ourRoles(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select rolname as name from pg_roles where rolname like 'gpuaas\_%' order by 1`.execute(db);
  return rows.map((row) => row.name);
}

/** Tables of ours without their partitions. */
export async function ourTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`.execute(
    db,
  );
  return rows.map((row) => row.name);
}

/** Tables with a tenant in a column, and all that refer to one of those, to any depth. */
export async function tenantTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with recursive tenant (oid) as (
      select 'public.organizations'::regclass::oid
      union
      select a.attrelid from pg_attribute a join pg_class c on c.oid = a.attrelid
      where a.attname = 'organization_id' and not a.attisdropped and c.relnamespace = 'public'::regnamespace
        and c.relkind in ('r', 'p') and not c.relispartition
      union
      -- A slot points at its last wipe, but belongs to the platform; people may have a home and belong to themselves.
      select k.conrelid from pg_constraint k join tenant on tenant.oid = k.confrelid
      where k.contype = 'f' and k.conrelid not in ('public.node_resource_slots'::regclass, 'public.users'::regclass)
    )
    select oid::regclass::text as name from tenant order by 1`.execute(db);
  return rows.map((row) => row.name);
}

/** Columns the role may use so, leaving out those the database fills by itself. */
export async function columnsFor(
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

/** Tables whose rows are never changed: they say so with a trigger on update and delete. */
export async function appendOnlyTables(db: Db): Promise<{ name: string; isPartition: boolean }[]> {
  const UPDATE_AND_DELETE = 8 + 16;
  const { rows } = await sql<{ name: string; isPartition: boolean }>`
    select c.relname as name, c.relispartition as "isPartition"
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where t.tgfoid = 'public.forbid_change'::regproc and t.tgtype::integer & ${UPDATE_AND_DELETE} = ${UPDATE_AND_DELETE}
    order by 1`.execute(db);
  return rows;
}
