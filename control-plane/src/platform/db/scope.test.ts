import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../ids.ts';
import { openDatabase, type Database, type Db, type Tx } from './database.ts';
import { servicesAsRole, inScope, withRole } from './scope.ts';
import { createTestDatabase } from './testing.ts';

let database: Database;
let db: Db;
let drop: () => Promise<void>;

beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  // One connection: the next statement would see anything that a scope left behind.
  database = openDatabase(made.url, { max: 1 });
  db = database.db;
});
afterAll(async () => {
  await database.close();
  await drop();
});

interface Self {
  role: string;
  organizations: string;
  caller: string;
  node: string;
}

async function whoAmI(handle: Db | Tx): Promise<Self> {
  const { rows } = await sql<Self>`
    select current_user::text as role, coalesce(current_setting('app.organization_ids', true), '') as organizations,
      coalesce(current_setting('app.caller_id', true), '') as caller,
      coalesce(current_setting('app.node_id', true), '') as node`.execute(handle);
  return rows[0]!;
}

describe('a scope', () => {
  test('holds for its transaction and leaves nothing behind', async () => {
    const outside = await whoAmI(db);
    const [organization, caller, node] = [newId(), newId(), newId()];
    const scope = {
      role: 'gpuaas_tenant',
      organizationIds: [organization],
      callerId: caller,
      nodeId: node,
    } as const;
    expect(await inScope(db, scope, whoAmI)).toEqual({
      role: 'gpuaas_tenant',
      organizations: `{${organization}}`,
      caller,
      node,
    });
    expect(await whoAmI(db)).toEqual(outside);
    await expect(
      inScope(db, scope, () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await whoAmI(db)).toEqual(outside);
    expect(await inScope(db, { role: 'gpuaas_relay' }, whoAmI)).toEqual({
      role: 'gpuaas_relay',
      organizations: '',
      caller: '',
      node: '',
    });
  });

  test('begins in one round trip', async () => {
    const sent: string[] = [];
    const client = await database.pool.connect();
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    client.query = ((...args: unknown[]) => {
      sent.push(String(args[0]));
      return query(...args);
    }) as typeof client.query;
    client.release();
    await inScope(db, { role: 'gpuaas_tenant' }, (tx) => sql`select 1`.execute(tx));
    client.query = query as typeof client.query;
    expect(sent).toEqual(['begin; set local role gpuaas_tenant', 'select 1', 'commit']);
  });

  test('takes nothing but UUIDs', async () => {
    const injected = `${newId()}}'; reset role; --`;
    for (const scope of [{ organizationIds: [injected] }, { callerId: injected }, { nodeId: injected }]) {
      await expect(inScope(db, { role: 'gpuaas_tenant', ...scope }, whoAmI)).rejects.toThrow('UUIDs only');
    }
  });

  test('does not open inside another transaction', async () => {
    const nested = inScope(db, { role: 'gpuaas_tenant' }, (tx) =>
      inScope(tx, { role: 'gpuaas_worker' }, whoAmI),
    );
    await expect(nested).rejects.toThrow('cannot stand inside');
  });
});

describe('part of a transaction under another role', () => {
  test('goes back to the role before, also when it fails', async () => {
    const organization = newId();
    const roles = await inScope(
      db,
      { role: 'gpuaas_tenant', organizationIds: [organization] },
      async (tx) => {
        const inside = await withRole(tx, 'gpuaas_placement', whoAmI);
        const after = await whoAmI(tx);
        await expect(
          withRole(tx, 'gpuaas_auth', () =>
            withRole(tx, 'gpuaas_worker', () => Promise.reject(new Error('no'))),
          ),
        ).rejects.toThrow('no');
        return [inside, after, await whoAmI(tx)].map(({ role, organizations }) => `${role} ${organizations}`);
      },
    );
    expect(roles).toEqual([
      `gpuaas_placement {${organization}}`,
      `gpuaas_tenant {${organization}}`,
      `gpuaas_tenant {${organization}}`,
    ]);
  });

  test('keeps the reason when a statement has failed', async () => {
    const failing = inScope(db, { role: 'gpuaas_tenant' }, (tx) =>
      withRole(tx, 'gpuaas_placement', () => sql`select from nowhere`.execute(tx)),
    );
    await expect(failing).rejects.toThrow('nowhere');
  });
});

describe('services that act under a role', () => {
  test('do so in transactions and in single statements, whose effects stay', async () => {
    const { db: worker } = servicesAsRole({ db, database }, 'gpuaas_worker');
    expect((await whoAmI(worker)).role).toBe('gpuaas_worker');
    expect((await worker.transaction().execute(whoAmI)).role).toBe('gpuaas_worker');
    await worker.insertInto('workflow_executors').values({ executor_id: 'e' }).execute();
    expect(await db.selectFrom('workflow_executors').select('executor_id').execute()).toEqual([
      { executor_id: 'e' },
    ]);
    await expect(worker.selectFrom('platform_keys').selectAll().execute()).rejects.toThrow(
      'permission denied',
    );
    expect((await whoAmI(worker)).role).toBe('gpuaas_worker');
  });

  test('send a single statement as it is, on connections that no transaction uses', async () => {
    const { db: worker } = servicesAsRole({ db, database }, 'gpuaas_worker');
    const backend = async (handle: Db | Tx): Promise<number> => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(handle);
      return rows[0]!.pid;
    };
    const alone = await backend(worker);
    expect(await worker.transaction().execute(backend)).not.toBe(alone);
    expect(await backend(worker)).toBe(alone);
    // A scope of more than a role has no dedicated connections, and its statements cannot bypass it.
    const organization = newId();
    const scoped = await inScope(db, { role: 'gpuaas_worker', organizationIds: [organization] }, whoAmI);
    expect(scoped).toMatchObject({ role: 'gpuaas_worker', organizations: `{${organization}}` });
    expect(await whoAmI(worker)).toMatchObject({ role: 'gpuaas_worker', organizations: '' });
  });
});
