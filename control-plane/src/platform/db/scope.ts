import { sql, type RawBuilder } from 'kysely';
import type pg from 'pg';
import { isUuid } from '../ids.ts';
import { openHandle, poolOf, poolOfRole, openRolePool, type Database, type Db, type Tx } from './database.ts';
import { HandleCache } from './handle-cache.ts';
import { ScopedDialect } from './scoped-dialect.ts';

/** The database roles; `0010_roles.sql`, `0150_blobs.sql` and `0160_apps.sql` make them. */
export type DatabaseRole =
  | 'gpuaas_tenant'
  | 'gpuaas_operator'
  | 'gpuaas_placement'
  | 'gpuaas_worker'
  | 'gpuaas_relay'
  | 'gpuaas_node'
  | 'gpuaas_gateway'
  | 'gpuaas_auth'
  | 'gpuaas_blobs'
  | 'gpuaas_app_runtime';

/** Role and visible rows of a unit of work. Rows outside the scope are invisible. */
export interface Scope {
  role: DatabaseRole;
  organizationIds?: readonly string[];
  /** Caller whose idempotency keys are visible. */
  callerId?: string;
  nodeId?: string;
  /** Lock timeout of a statement; unlimited without it. */
  lockTimeoutMs?: number;
}

/** What a host may do: nothing but what is its own. */
export function nodeScope(nodeId: string): Scope {
  return { role: 'gpuaas_node', nodeId };
}

/** One transaction under the scope, begun in one round trip. */
export async function inScope<T>(db: Db, scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T> {
  return await openScope(db, scope)
    .transaction()
    .execute(async (tx) => {
      rolesOf.set(tx, scope.role);
      return await work(tx);
    });
}

/** Runs part of a transaction under another role; settings of the scope stay as they are. */
export async function withRole<T>(tx: Tx, role: DatabaseRole, work: (tx: Tx) => Promise<T>): Promise<T> {
  const before = rolesOf.get(tx) ?? 'none';
  await setRole(tx, role);
  let result: T;
  try {
    result = await work(tx);
  } catch (error) {
    // In a failed transaction the role cannot be set, and nothing can run under the wrong role either.
    await setRole(tx, before).catch(() => undefined);
    throw error;
  }
  await setRole(tx, before);
  return result;
}

/** Lets the rest of the transaction see a tenant that its caller has just created or joined. */
export async function addTenantToScope(tx: Tx, organizationId: string): Promise<void> {
  await sql`select set_config('app.organization_ids',
    (scope_organizations() || ${organizationId}::uuid)::text, true)`.execute(tx);
}

/** The tenants of a transaction that acts for many, as a part of the statement that writes for them. */
export function actForTenantsSql(organizationIds: Iterable<string>): RawBuilder<void> {
  const ids = [...new Set(organizationIds)].map(checked).join(',');
  return sql`set_config('app.organization_ids', ${`{${ids}}`}, true)`;
}

/** Services bound to one role, for a part of the platform that always acts under it. */
export function servicesAsRole<S extends { db: Db; database: Database }>(services: S, role: DatabaseRole): S {
  const db = openScope(services.db, { role });
  return { ...services, db, database: { ...services.database, db } };
}

/** Database handle bound to a role, for single statements; each runs in its own transaction. */
export function databaseAsRole(db: Db, role: DatabaseRole): Db {
  return openScope(db, { role });
}

type RoleName = DatabaseRole | 'none';

const rolesOf = new WeakMap<Tx, RoleName>();

async function setRole(tx: Tx, role: RoleName): Promise<void> {
  await sql.raw(`set local role ${role}`).execute(tx);
  rolesOf.set(tx, role);
}

const handles = new WeakMap<pg.Pool, HandleCache>();

function openScope(db: Db, scope: Scope): Db {
  const pool = poolOfRole(poolOf(db), scope.role);
  const begin = opening(scope);
  const known = handles.get(pool) ?? new HandleCache();
  handles.set(pool, known);
  const handle = known.get(begin) ?? openHandle(pool, new ScopedDialect(pool, begin, aloneIn(pool, scope)));
  known.add(begin, handle);
  return handle;
}

/** A scope of only a role has dedicated connections; any other is set in every transaction. */
function aloneIn(pool: pg.Pool, { role, ...more }: Scope): pg.Pool | null {
  return Object.values(more).every((setting) => setting === undefined) ? openRolePool(pool, role) : null;
}

function opening({ role, organizationIds = [], callerId, nodeId, lockTimeoutMs }: Scope): string {
  const statements = ['begin', `set local role ${role}`];
  if (organizationIds.length > 0) {
    statements.push(`set local app.organization_ids = '{${organizationIds.map(checked).join(',')}}'`);
  }
  if (callerId !== undefined) statements.push(`set local app.caller_id = '${checked(callerId)}'`);
  if (nodeId !== undefined) statements.push(`set local app.node_id = '${checked(nodeId)}'`);
  if (lockTimeoutMs !== undefined) statements.push(`set local lock_timeout = ${Math.trunc(lockTimeoutMs)}`);
  return statements.join('; ');
}

/** The statement is assembled as text: only a UUID may enter it. */
function checked(id: string): string {
  if (!isUuid(id)) throw new Error('a scope takes UUIDs only');
  return id;
}
