import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reconcileNodes } from '@gpuaas/control-plane/domains/fleet/reconcile-nodes';
import { issueTask } from '@gpuaas/control-plane/domains/tasks/issue-task';
import { rebuildReadModels } from '@gpuaas/control-plane/domains/read-models/rebuild';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { startEventConsumers } from '@gpuaas/control-plane/roles/event-consumers';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addNode, approveAll, ask, candidate } from '../../harness/fleet/fleet.ts';

let api: TestApi;
let consumers: { stop(): Promise<void> };
beforeAll(async () => {
  api = await createTestApi();
  consumers = await startEventConsumers(api.services, {
    natsUrl: null,
    smtp: null,
    publicUrl: 'http://127.0.0.1:1',
  });
});
afterAll(async () => {
  await consumers?.stop();
  await api?.stop();
});

interface Shown {
  posture: string;
  states: {
    desired: string;
    observed: string;
    execution: string;
    projected: { posture?: string; state?: string } | null;
  };
}

const node = async (id: string) => (await ask<Shown>(api, 'operator', 'GET', `/nodes/${id}`)).body;
const slots = async (id: string) =>
  (await ask<{ items: Shown[] }>(api, 'operator', 'GET', `/nodes/${id}/resource-slots`)).body.items;
/** Readers stay below the oldest transaction of the server, which other tests use too. */
const projected = (look: () => Promise<unknown>) => expect.poll(look, { timeout: 60_000, interval: 200 });

async function hearAllHosts(): Promise<void> {
  await sql`update nodes set last_heartbeat_at = now()`.execute(api.services.db);
}

/** Without `laterMs` every host was heard just before, however slow the machine is. */
async function reconcile(laterMs = 0): Promise<void> {
  const now = new Date(Date.now() + laterMs);
  const services = { ...servicesAsRole(api.services, 'gpuaas_worker'), clock: { now: () => now } };
  if (laterMs === 0) await hearAllHosts();
  await reconcileNodes().run(services, { from: now, to: now });
}

it('a host and its slots show what is wanted, seen, done and last listed, each apart', async () => {
  const id = await addNode(api);
  await approveAll(api, id, [candidate(0), candidate(1)]);
  await reconcile();
  await projected(async () => (await node(id)).states.projected?.posture).toBe('fully_available');
  await projected(async () => (await slots(id)).map((slot) => slot.states.projected?.state)).toEqual([
    'available',
    'available',
  ]);

  const { db, clock } = api.services;
  const expiresAt = new Date(clock.now().getTime() + 60_000);
  await db.transaction().execute((tx) =>
    issueTask(tx, {
      nodeId: id,
      kind: 'slice.prereq_check',
      params: {},
      correlationId: newId(),
      expiresAt,
    }),
  );
  await ask(api, 'operator', 'POST', `/nodes/${id}/drain`, { reason: 'a new power supply' });
  expect((await node(id)).states).toMatchObject({
    desired: 'draining',
    observed: 'healthy',
    execution: 'queued',
  });
  await projected(async () => (await node(id)).states.projected?.posture).toBe('draining');
  expect((await slots(id))[0]!.states).toMatchObject({
    desired: 'for_sale',
    observed: 'unknown',
    execution: 'idle',
  });
});

it('announces silence once and the return once, and lists show both', async () => {
  const id = await addNode(api);
  await approveAll(api, id, [candidate(0)]);
  await reconcile();
  await projected(async () => (await node(id)).states.projected?.posture).toBe('fully_available');
  await reconcile(3_600_000);
  await reconcile(3_600_000);
  await projected(async () => (await node(id)).states.projected?.posture).toBe('unavailable');
  // The read model lags by design: the host answers now, and lists do not show it yet.
  await hearAllHosts();
  expect((await node(id)).posture).toBe('fully_available');
  await reconcile();
  await projected(async () => (await node(id)).states.projected?.posture).toBe('fully_available');
  const emitted = await sql<{ count: string }>`select count(*) from outbox_events
    where subject_id = ${id} and payload ->> 'change' = 'connection_changed'`.execute(api.services.db);
  expect(Number(emitted.rows[0]!.count)).toBe(3);
});

it('a rebuild shows hosts and slots as before, and forgets those that never were', async () => {
  const { db } = api.services;
  const read = async () => ({
    hosts: await db.selectFrom('node_overviews').select(['node_id', 'posture']).orderBy('node_id').execute(),
    slots: await db.selectFrom('slot_overviews').select(['slot_id', 'state']).orderBy('slot_id').execute(),
  });
  const before = await read();
  await db.updateTable('node_overviews').set({ posture: 'unavailable' }).execute();
  await db.updateTable('slot_overviews').set({ state: 'disabled' }).execute();
  await db
    .insertInto('node_overviews')
    .values({ node_id: newId(), posture: 'unavailable', projected_at: new Date() })
    .execute();
  expect(await rebuildReadModels({ ...api.services, db })).toMatchObject({ hosts: before.hosts.length });
  expect(await read()).toEqual(before);
});
