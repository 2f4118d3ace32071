import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { requestConversion } from '@gpuaas/control-plane/domains/fleet/conversion/request-conversion';
import { disableSlot } from '@gpuaas/control-plane/domains/fleet/slots/disable-slot';
import { drainNode } from '@gpuaas/control-plane/domains/fleet/nodes/drain-node';
import { FleetIndex } from '@gpuaas/control-plane/domains/fleet/index/fleet-index';
import type { Tx } from '@gpuaas/control-plane/platform/db/database';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { launchBody } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addHost, claimDefects } from '../../harness/fleet/fleet-rows.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
});
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

/** Possible changes of a host during a launch on it. */
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

it('sees writes of a transaction after that transaction’s own snapshot', async () => {
  const { db } = api.services;
  const { nodeId } = await addHost(db, 2);
  await sql`update node_resource_slots set state = 'disabled' where node_id = ${nodeId}`.execute(db);
  await db.transaction().execute(async (tx) => {
    await sql`select pg_current_xact_id()`.execute(tx);
    // A later transaction has ended by the time of the snapshot, so that this one's id is within its range.
    await addHost(db, 1);
    await api.services.fleetIndex.catchUp(tx);
    await sql`update node_resource_slots set state = 'available' where node_id = ${nodeId}`.execute(tx);
  });
  expect((await launch(2)).statusCode).toBe(202);
});

describe('a sale that its seller hears of late', () => {
  const request = {
    shape: 'gpu_slice',
    gpus: 1,
    region: null,
    gpuModel: null,
    now: Date.now(),
    endsAt: Infinity,
  } as const;

  /** A host with one slot, held in a separate index. */
  async function holdTheOnlySlot() {
    const { db, policies } = api.services;
    const { slotIds } = await addHost(db, 1);
    const fleet = new FleetIndex(policies);
    await fleet.catchUp(db);
    const { hold } = fleet.place(request, [1]);
    expect(hold!.slotIds).toEqual(slotIds);
    const move = async (state: string): Promise<string> => {
      const { rows } = await sql<{ xid: string }>`update node_resource_slots set state = ${state}
        where id = ${slotIds[0]} returning pg_current_xact_id()::text as xid`.execute(db);
      return rows[0]!.xid;
    };
    const offered = (): boolean => fleet.place(request, [1]).fits;
    return { db, fleet, hold: hold!, move, offered };
  }

  it('is not entered if its release was already seen', async () => {
    const { db, fleet, hold, move, offered } = await holdTheOnlySlot();
    const sale = await move('reserved');
    await move('available');
    await fleet.catchUp(db);
    fleet.settle([hold], sale);
    await fleet.catchUp(db);
    expect(offered()).toBe(true);
  });

  it('is not entered if the snapshot with its release is still being read', async () => {
    const { db, fleet, hold, move, offered } = await holdTheOnlySlot();
    const sale = await move('reserved');
    await move('available');
    const look = fleet.catchUp(db);
    await Promise.resolve();
    fleet.settle([hold], sale);
    await look;
    expect(offered()).toBe(true);
  });

  it('is read by the next snapshot if its hold had expired', async () => {
    const { db, fleet, hold, move, offered } = await holdTheOnlySlot();
    fleet.giveBack(hold);
    fleet.settle([hold], await move('reserved'));
    await fleet.catchUp(db);
    expect(offered()).toBe(false);
    await move('available');
  });

  it('keeps its slot from others before any snapshot, and frees it with its release', async () => {
    const { db, fleet, hold, move, offered } = await holdTheOnlySlot();
    fleet.settle([hold], await move('reserved'));
    expect(offered()).toBe(false);
    await fleet.catchUp(db);
    expect(offered()).toBe(false);
    await move('available');
    await fleet.catchUp(db);
    expect(offered()).toBe(true);
  });
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
