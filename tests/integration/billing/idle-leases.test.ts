import { detectIdleLeases } from '@gpuaas/control-plane/domains/allocations/idle/detect-idle-leases';
import { recordUtilisationSample } from '@gpuaas/control-plane/domains/reports/sample-utilisation';
import { manualClock } from '@gpuaas/control-plane/platform/clock';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import type { Services } from '@gpuaas/control-plane/platform/services';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addHost } from '../../harness/fleet/fleet-rows.ts';

let api: TestApi;
let worker: Services;
let clock: ReturnType<typeof manualClock>;
let tenant: string;
let lease: string;
let nodeId: string;

beforeAll(async () => {
  api = await createTestApi();
  tenant = api.people['admin']!.organizationId!;
  clock = manualClock(new Date());
  worker = { ...servicesAsRole(api.services, 'gpuaas_worker'), clock };
  const { db } = api.services;
  const host = await addHost(db, 4);
  ({ nodeId } = host);
  lease = await seedAllocation(db, api.people['member']!);
  await sql`update allocations set node_id = ${nodeId}, gpu_count = 2, per_gpu_hour_micros = 1800000
    where id = ${lease}`.execute(db);
  await sql`update node_resource_slots set state = 'in_use' where id = any (${host.slotIds.slice(0, 2)}::uuid[])`.execute(
    db,
  );
  for (const slotId of host.slotIds.slice(0, 2)) {
    await sql`insert into allocation_resource_claims (id, allocation_id, node_id, claim_kind, slot_id, snapshot)
      values (${newId()}, ${lease}, ${nodeId}, 'slot', ${slotId}, '{}')`.execute(db);
  }
});
afterAll(() => api?.stop());

/** Some minutes later the host reports the utilisation of the two GPUs, and the platform checks it. */
async function pass(minutes: number, busy: number[] | null): Promise<void> {
  clock.advance(minutes * 60_000);
  const gpus = (busy ?? []).map((percent, index) => ({
    pci_address: `gpu${index + 1}`,
    state: 'ok',
    utilisation_percent: percent,
  }));
  await sql`update nodes set observed = ${JSON.stringify({ gpus })}, last_heartbeat_at = ${clock.now()}
    where id = ${nodeId}`.execute(api.services.db);
  await detectIdleLeases.run(worker, { from: clock.now(), to: clock.now() });
}

async function ask(person: string, url: string) {
  const headers = { authorization: `Bearer ${api.people[person]!.apiKey}` };
  const answer = await api.server.inject({ url, headers });
  return { status: answer.statusCode, body: answer.json() };
}

/** As the worker recorded it: the API has a separate clock. */
async function noted() {
  return await api.services.db
    .selectFrom('allocation_idleness')
    .select(['idle_since', 'idle_seconds'])
    .where('allocation_id', '=', lease)
    .executeTakeFirst();
}

async function notices(): Promise<string[]> {
  const { rows } = await sql<{ message: string }>`select payload ->> 'message' as message from outbox_events
    where event_type = 'allocation.idle' order by position`.execute(api.services.db);
  return rows.map(({ message }) => message);
}

describe('a lease that costs money and does nothing', () => {
  it('is idle while all its GPUs are, and of what no host reports nothing is said', async () => {
    await pass(1, null);
    expect(await noted()).toBeUndefined();
    await pass(1, [2, 60]);
    expect(await noted()).toEqual({ idle_since: null, idle_seconds: 0n });
    await pass(1, [2, 0]);
    const since = clock.now();
    await pass(5, [4, 0]);
    expect(await noted()).toEqual({ idle_since: since, idle_seconds: 0n });
    await pass(5, [2, 90]);
    expect(await noted()).toEqual({ idle_since: null, idle_seconds: 600n });
  });

  it('does not count time without samples', async () => {
    await pass(1, [0, 0]);
    await pass(5, [0, 0]);
    await pass(60, [0, 0]);
    expect(await noted()).toEqual({ idle_since: clock.now(), idle_seconds: 900n });
  });

  it('is listed with the cost of its idle time, for callers who may see spend', async () => {
    const url = `/api/v1/billing/idle-leases?organization_id=${tenant}`;
    const { body } = await ask('admin', url);
    expect(body.items).toMatchObject([
      {
        allocation_id: lease,
        idle_seconds: 900,
        per_hour: { currency: 'USD', micros: 3_600_000 },
        cost: { currency: 'USD', micros: 900_000 },
      },
    ]);
    expect((await ask('other', url)).status).toBe(404);
    expect((await ask('member', url)).status).toBe(403);
  });

  it('notifies its owner once per idle period, after the time in the policy', async () => {
    for (let minute = 0; minute < 235; minute += 5) await pass(5, [0, 0]);
    expect(await notices()).toEqual([]);
    await pass(5, [0, 0]);
    await pass(5, [0, 0]);
    expect(await notices()).toEqual([
      expect.stringMatching(/^Its 2 GPUs have done nothing .* has cost .*14\.40/),
    ]);
  });
});

describe('utilisation over time', () => {
  it('is sampled, shown to operators by the hour, and forgotten in time', async () => {
    await pass(1, [40, 80]);
    await recordUtilisationSample(worker);
    const hour = 3_600_000;
    const from = new Date(Math.floor(clock.now().getTime() / hour) * hour);
    const span = `from=${from.toISOString()}&to=${new Date(from.getTime() + hour).toISOString()}&step=hour`;
    const url = `/api/v1/admin/reports/utilisation/history?${span}`;
    expect((await ask('operator', url)).body.items).toEqual([
      {
        at: from.toISOString(),
        region: 'uae-north-1',
        gpu_model: 'H200-SXM-141GB',
        samples: 1,
        approved: 4,
        sold: 2,
        available: 2,
        sold_percent: 50,
        busy_percent: 60,
      },
    ]);
    expect((await ask('admin', url)).status).toBe(403);
    clock.advance(401 * 86_400_000);
    await recordUtilisationSample(worker);
    expect((await ask('operator', url)).body.items).toEqual([]);
  });
});
