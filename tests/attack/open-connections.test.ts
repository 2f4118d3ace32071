import { once } from 'node:events';
import { AccessWatch } from '@gpuaas/control-plane/domains/access/access-watch';
import { machineDoor } from '@gpuaas/control-plane/domains/access/machine-door';
import { TERMINAL_PATH } from '@gpuaas/control-plane/domains/access/routes';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { EventTail } from '@gpuaas/control-plane/platform/events/tail';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { seedActiveAllocation } from '../contract/known/known-allocations.ts';
import { addNode } from '../harness/fleet/fleet.ts';
import { createTestApi, type TestApi } from '../harness/api.ts';

let api: TestApi;
let url: string;
beforeAll(async () => {
  api = await createTestApi();
  url = await api.server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => api?.stop());

describe('event streams', () => {
  it('are limited for each caller and for all, and a closed one makes room', async () => {
    await setPolicy('events.max_streams_per_caller', 2);
    const open = [await stream('member'), await stream('member')];
    expect(open.map(({ status }) => status)).toEqual([200, 200]);
    const refused = await stream('member');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expect(await refused.json()).toMatchObject({ code: 'too_many_streams' });
    const other = await stream('admin');
    expect(other.status).toBe(200);
    await setPolicy('events.max_streams', 3);
    expect((await stream('other')).status).toBe(429);
    await other.body!.cancel();
    await expect.poll(async () => await statusOf('other')).toBe(200);
    for (const one of open) await one.body!.cancel();
  });
});

describe('connections to machines', () => {
  it('without a token are limited for each address', async () => {
    await setPolicy('access.max_unknown_connections_per_address', 3);
    const silent = Array.from(
      { length: 3 },
      () => new WebSocket(`${url.replace('http', 'ws')}${TERMINAL_PATH}`),
    );
    await Promise.all(silent.map((socket) => once(socket, 'open')));
    const refused = new WebSocket(`${url.replace('http', 'ws')}${TERMINAL_PATH}`);
    const [error] = (await once(refused, 'error')) as [Error];
    expect(error.message).toContain('429');
    for (const socket of silent) socket.terminate();
    await expect
      .poll(async () => {
        const next = new WebSocket(`${url.replace('http', 'ws')}${TERMINAL_PATH}`);
        const opened = await Promise.race([
          once(next, 'open').then(() => true),
          new Promise<false>((resolve) => next.on('error', () => resolve(false))),
        ]).catch(() => false);
        next.terminate();
        return opened;
      })
      .toBe(true);
  });

  it('are limited for each caller, whatever machines they lead to', async () => {
    const services = servicesAsRole(api.services, 'gpuaas_gateway');
    const tail = new EventTail(
      servicesAsRole(api.services, 'gpuaas_relay').db,
      services.listener,
      services.log,
    );
    const watch = new AccessWatch(services, tail);
    await setPolicy('access.max_connections_per_caller', 2);
    try {
      const { id, user_id } = await api.services.db
        .selectFrom('api_keys as k')
        .innerJoin('users as u', 'u.id', 'k.user_id')
        .select(['k.id', 'k.user_id'])
        .where('u.email', '=', api.people['admin']!.email)
        .executeTakeFirstOrThrow();
      const enter = async (actorId: string) => {
        const allocationId = await seedActiveAllocation(api);
        const nodeId = await addNode(api);
        await api.services.db
          .updateTable('allocations')
          .set({ node_id: nodeId })
          .where('id', '=', allocationId)
          .execute();
        const credential = { kind: 'api_key', id, scopes: null } as const;
        return await watch.enter(
          machineDoor(api.services),
          { subjectId: allocationId, actorId, credential, correlationId: newId() },
          () => undefined,
        );
      };
      const first = await enter(user_id);
      await enter(user_id);
      await expect(enter(user_id)).rejects.toMatchObject({ why: 'too_many' });
      first.close();
      await enter(user_id);
      await enter(newId());
    } finally {
      await watch.close();
    }
  });
});

it('a port takes so many connections, and no more', () => {
  expect(api.server.server.maxConnections).toBe(10_000);
});

function stream(person: string): Promise<Response> {
  return fetch(`${url}/api/v1/events/stream`, {
    headers: { authorization: `Bearer ${api.people[person]!.apiKey}` },
  });
}

async function statusOf(person: string): Promise<number> {
  const response = await stream(person);
  await response.body?.cancel();
  return response.status;
}

async function setPolicy(key: string, value: number): Promise<void> {
  await sql`insert into policy_values (key, value) values (${key}, ${String(value)}::jsonb)
    on conflict (key, organization_id, project_id) do update set value = excluded.value`.execute(
    api.services.db,
  );
  await api.services.policies.refresh();
}
