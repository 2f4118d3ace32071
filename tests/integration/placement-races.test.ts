import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { requestConversion } from '@gpuaas/control-plane/domains/fleet/conversion/request-conversion';
import { disableSlot } from '@gpuaas/control-plane/domains/fleet/disable-slot';
import { drainNode } from '@gpuaas/control-plane/domains/fleet/drain-node';
import { fleetIndexOf } from '@gpuaas/control-plane/domains/fleet/fleet-index-of';
import type { Tx } from '@gpuaas/control-plane/platform/db/database';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { launchBody } from '../harness/allocations.ts';
import { createTestApi, type TestApi } from '../harness/api.ts';
import { addHost, claimDefects } from '../harness/fleet-rows.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
}, 120_000);
afterAll(() => api?.stop());
beforeEach(async () => {
  await sql`update node_resource_slots set state = 'disabled' where state = 'available'`.execute(
    api.services.db,
  );
});

function launch(gpus: number) {
  const { apiKey, projectId } = api.people['member']!;
  return api.server.inject({
    method: 'POST',
    url: '/api/v1/allocations',
    headers: { authorization: `Bearer ${apiKey}` },
    payload: launchBody(projectId!, gpus),
  });
}

type Host = Awaited<ReturnType<typeof addHost>>;

/** What may happen to a host while somebody launches on it. */
const changes: Record<string, (tx: Tx, host: Host) => Promise<void>> = {
  'a drain': (tx, { nodeId }) => drainNode(tx, nodeId, 'race', newId()),
  'a disabled slot': (tx, { nodeId, slotIds }) =>
    disableSlot(tx, { nodeId, slotId: slotIds[0]!, reason: 'race', correlationId: newId() }),
  'a conversion': async (tx, { nodeId }) => {
    const request = { nodeId, mode: 'baremetal' as const, reason: 'race' };
    await requestConversion(api.services, tx, { ...request, requestedBy: newId(), correlationId: newId() });
  },
};

/** Resolves when another connection waits for a lock of this one. */
async function somebodyWaits(tx: Tx): Promise<void> {
  const { db } = api.services;
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
  await expect
    .poll(async () => {
      const waiting = sql`select from pg_stat_activity where ${rows[0]!.pid} = any(pg_blocking_pids(pid))`;
      return (await waiting.execute(db)).rows.length;
    })
    .toBeGreaterThan(0);
}

describe.each(Object.entries(changes))('a launch that races with %s', (_name, change) => {
  it('waits for it when nothing else is free, and is refused', async () => {
    const host = await addHost(api.services.db, 2);
    const answer = await api.services.db.transaction().execute(async (tx) => {
      await change(tx, host);
      const launched = launch(2);
      await somebodyWaits(tx);
      return { launched };
    });
    const refused = await answer.launched;
    expect(refused.json()).toMatchObject({ code: 'sku_unavailable' });
    expect(await claimsOn(host)).toBe(0);
  });

  it('gets what it wants elsewhere without waiting', async () => {
    // The smaller host is the better fit, so it is tried first.
    const host = await addHost(api.services.db, 2);
    const other = await addHost(api.services.db, 3);
    await api.services.db.transaction().execute(async (tx) => {
      await change(tx, host);
      expect((await launch(2)).statusCode).toBe(202);
    });
    expect([await claimsOn(host), await claimsOn(other)]).toEqual([0, 2]);
  });

  it('wins when the change is taken back', async () => {
    const host = await addHost(api.services.db, 2);
    const launched = await api.services.db
      .transaction()
      .execute(async (tx) => {
        await change(tx, host);
        const answer = launch(2);
        await somebodyWaits(tx);
        throw Object.assign(new Error('taken back'), { answer });
      })
      .catch((error: { answer: ReturnType<typeof launch> }) => error.answer);
    expect(launched.statusCode).toBe(202);
    expect(await claimsOn(host)).toBe(2);
  });
});

it('sees what a transaction wrote after it had looked at the fleet itself', async () => {
  const { db } = api.services;
  const { nodeId } = await addHost(db, 2);
  await sql`update node_resource_slots set state = 'disabled' where node_id = ${nodeId}`.execute(db);
  await db.transaction().execute(async (tx) => {
    await sql`select pg_current_xact_id()`.execute(tx);
    // A later transaction has ended by the time of the look, so that this one's id is within what the look has seen.
    await addHost(db, 1);
    await fleetIndexOf(api.services).catchUp(tx);
    await sql`update node_resource_slots set state = 'available' where node_id = ${nodeId}`.execute(tx);
  });
  expect((await launch(2)).statusCode).toBe(202);
});

describe('a row written past everything', () => {
  it('is not sold when it says available in spite of a live claim', async () => {
    const { db } = api.services;
    const { nodeId } = await addHost(db, 1);
    expect((await launch(1)).statusCode).toBe(202);
    await sql`alter table node_resource_slots disable trigger slots_need_wipe`.execute(db);
    await sql`update node_resource_slots set state = 'available' where node_id = ${nodeId}`.execute(db);
    await sql`alter table node_resource_slots enable trigger slots_need_wipe`.execute(db);
    expect((await launch(1)).json()).toMatchObject({ code: 'sku_unavailable' });
    await sql`update node_resource_slots set state = 'reserved' where node_id = ${nodeId}`.execute(db);
    const defects = await claimDefects(db);
    expect(defects.filter((row) => (row as { state: string }).state !== 'disabled')).toEqual([]);
  });
});

async function claimsOn({ nodeId }: Host): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`select count(*) from allocation_resource_claims
    where node_id = ${nodeId}`.execute(api.services.db);
  return Number(rows[0]!.count);
}
