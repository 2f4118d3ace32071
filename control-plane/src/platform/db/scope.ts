import { sql, type RawBuilder } from 'kysely';
import type pg from 'pg';
import { isUuid } from '../ids.ts';
import { openHandle, poolOf, standingPool, type Database, type Db, type Tx } from './database.ts';
import { ScopedDialect } from './scoped-dialect.ts';

/** The database roles of `0010_roles.sql`, which says what each may do. */
export type DatabaseRole =
  | 'gpuaas_tenant'
  | 'gpuaas_operator'
  | 'gpuaas_placement'
  | 'gpuaas_worker'
  | 'gpuaas_relay'
  | 'gpuaas_node'
  | 'gpuaas_gateway'
  | 'gpuaas_auth';

/** Under which role a piece of work runs and whose rows it sees. What is not named sees nothing. */
export interface Scope {
  role: DatabaseRole;
  organizationIds?: readonly string[];
  /** Whose idempotency keys. */
  callerId?: string;
  nodeId?: string;
  /** How long a statement may wait for a lock; without it as long as it takes. */
  lockTimeoutMs?: number;
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
    // In a transaction that has failed nothing can be set, and nothing can be done under the wrong role either.
    await setRole(tx, before).catch(() => undefined);
    throw error;
  }
  await setRole(tx, before);
  return result;
}

/** Lets the rest of the transaction see a tenant that its caller has just made or joined. */
export async function widenScope(tx: Tx, organizationId: string): Promise<void> {
  await sql`select set_config('app.organization_ids',
    (scope_organizations() || ${organizationId}::uuid)::text, true)`.execute(tx);
}

/** The tenants of a transaction that acts for many, as a part of the statement that writes for them. */
export function actingFor(organizationIds: Iterable<string>): RawBuilder<void> {
  const ids = [...new Set(organizationIds)].map(checked).join(',');
  return sql`set_config('app.organization_ids', ${`{${ids}}`}, true)`;
}

/** The same database for a part of the platform that always acts under one role. */
export function actingAs<S extends { db: Db; database: Database }>(services: S, role: DatabaseRole): S {
  const db = openScope(services.db, { role });
  return { ...services, db, database: { ...services.database, db } };
}

/** The same for single statements, each of them a transaction of its own. */
export function statementsAs(db: Db, role: DatabaseRole): Db {
  return openScope(db, { role });
}

type RoleName = DatabaseRole | 'none';

const rolesOf = new WeakMap<Tx, RoleName>();

async function setRole(tx: Tx, role: RoleName): Promise<void> {
  await sql.raw(`set local role ${role}`).execute(tx);
  rolesOf.set(tx, role);
}

/** Handles by pool and opening: callers come back, and a handle costs as much as a small query. */
const handles = new WeakMap<pg.Pool, Map<string, Db>>();
const MAX_HANDLES = 1000;

function openScope(db: Db, scope: Scope): Db {
  const pool = poolOf(db);
  const begin = opening(scope);
  const known = handles.get(pool) ?? new Map<string, Db>();
  handles.set(pool, known);
  const handle = known.get(begin) ?? openHandle(pool, new ScopedDialect(pool, begin, aloneIn(pool, scope)));
  // They hold nothing of their own, so forgetting all of them is cheap and safe.
  if (known.size >= MAX_HANDLES) known.clear();
  known.set(begin, handle);
  return handle;
}

/** A scope that is nothing but a role has connections that stand in it; any other begins with every transaction. */
function aloneIn(pool: pg.Pool, { role, ...more }: Scope): pg.Pool | null {
  return Object.values(more).every((setting) => setting === undefined) ? standingPool(pool, role) : null;
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

/** The statement is put together as text: nothing but a UUID may enter it. */
function checked(id: string): string {
  if (!isUuid(id)) throw new Error('a scope takes UUIDs only');
  return id;
}
