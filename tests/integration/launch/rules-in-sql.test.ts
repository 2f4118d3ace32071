import {
  parseHolds,
  selectHolds,
  type StoredHold,
} from '@gpuaas/control-plane/domains/fleet/index/placement-candidates';
import { serialKey } from '@gpuaas/control-plane/domains/fleet/disks/serial-key';
import { storedLaunch, type StoredKept } from '@gpuaas/control-plane/domains/billing/funds/commitments';
import { covers, keptBeside } from '@gpuaas/control-plane/domains/billing/funds/covers';
import { respectsHolds } from '@gpuaas/control-plane/domains/placement/filters/not-held';
import { isComplete } from '@gpuaas/control-plane/domains/placement/slot-rules';
import { incrementsFor } from '@gpuaas/control-plane/domains/quotas/counter';
import { effectiveLimit } from '@gpuaas/control-plane/domains/quotas/effective-limit';
import { openDatabase, type Database } from '@gpuaas/control-plane/platform/db/database';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { fixedPolicies } from '@gpuaas/control-plane/platform/policy/testing';
import fc from 'fast-check';
import { sql, type RawBuilder } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addHost } from '../../harness/fleet/fleet-rows.ts';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.url, { max: 1 });
});
afterAll(async () => {
  await database?.close();
  await drop?.();
});

/** What the database answers for each of the rows, in their order. `v` is a row as JSON. */
async function answers<T>(rows: readonly object[], expression: RawBuilder<T>): Promise<T[]> {
  const found = await sql<{ answer: T }>`select ${expression} as answer
    from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) with ordinality as row (v, place)
    order by place`.execute(database.db);
  return found.rows.map(({ answer }) => answer);
}

async function holdForAll<T>(
  one: fc.Arbitrary<T>,
  check: (all: T[]) => Promise<{ sql: unknown[]; code: unknown[] }>,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(one, { minLength: 100, maxLength: 100 }), async (all) => {
      const said = await check(all);
      expect(said.sql).toEqual(said.code);
    }),
    { numRuns: 10 },
  );
}

it('`is_complete` says the same of a slot in the database and in the code', async () => {
  const binding = fc.oneof(
    { weight: 5, arbitrary: fc.constant('x') },
    { weight: 1, arbitrary: fc.constantFrom(null, '', ' ', '  ', '\t', '\n', '\u00A0', ' x ') },
  );
  const slot = fc.record({
    gpuPciAddress: binding,
    fabricVfPciAddress: binding,
    nvmeSerial: binding,
    nvmeDevice: binding,
    managementMac: binding,
    privateIp: binding,
    destructiveWipePolicy: binding,
    fabricClaimMode: fc.constantFrom(
      'per_slot_vf',
      'per_slot_vf',
      'per_slot_vf',
      'whole_node',
      'shared',
      null,
    ),
  });
  await holdForAll(slot, async (all) => {
    const rows = all.map((one) => ({
      gpu_pci_address: one.gpuPciAddress,
      fabric_vf_pci_address: one.fabricVfPciAddress,
      nvme_serial: one.nvmeSerial,
      nvme_device: one.nvmeDevice,
      management_mac: one.managementMac,
      private_ip: one.privateIp,
      capacity_metadata: {
        fabric_claim_mode: one.fabricClaimMode,
        destructive_wipe_policy: one.destructiveWipePolicy,
      },
    }));
    const place = { slotIndex: 0, state: 'available', healthState: 'healthy', numaNode: 0, pcieRoot: 'r' };
    return {
      sql: await answers(
        rows,
        sql<boolean>`coalesce(is_complete(jsonb_populate_record(null::node_resource_slots, v)), false)`,
      ),
      code: all.map((one) => isComplete({ ...place, ...one })),
    };
  });
});

it('`effective_limit` says the same in the database and in the code', async () => {
  const amount = fc.option(fc.integer({ min: 0, max: 5 }));
  const limits = fc.record({ platform: amount, policy: fc.integer({ min: 0, max: 5 }), tenant: amount });
  const counter = {
    organizationId: newId(),
    holderType: 'project',
    holderId: newId(),
    measure: 'gpus',
    unit: 'H200',
  } as const;
  const limit = (value: number | null) => (value === null ? null : BigInt(value));
  await holdForAll(limits, async (all) => ({
    sql: await answers(
      all,
      sql<bigint>`effective_limit((v ->> 'platform')::bigint, (v ->> 'policy')::bigint, (v ->> 'tenant')::bigint)`,
    ),
    code: all.map(({ platform, policy, tenant }) => {
      const policies = fixedPolicies({ 'quotas.project_gpus': policy });
      const set = { platformLimit: limit(platform), tenantLimit: limit(tenant) };
      return effectiveLimit(policies, counter, set).limit;
    }),
  }));
});

it('`quota_counters` counts a launch as the code does', async () => {
  const people = [newId(), newId()] as const;
  const charge = fc.record({
    launchedBy: fc.constantFrom(...people),
    ownerUserId: fc.constantFrom(null, ...people),
    gpus: fc.integer({ min: 1, max: 8 }),
    micros: fc.integer({ min: 0, max: 1_000_000_000 }),
  });
  const projectId = newId();
  await holdForAll(charge, async (all) => ({
    sql: await answers(
      all,
      sql`(select json_agg(concat_ws(' ', q.holder_type, q.holder_id, q.measure, q.unit, q.amount)
          order by concat_ws(' ', q.holder_type, q.holder_id, q.measure, q.unit, q.amount) collate "C")
        from quota_counters(${projectId}, (v ->> 'launchedBy')::uuid, (v ->> 'ownerUserId')::uuid, 'H200', 'USD', 1,
          (v ->> 'gpus')::bigint, (v ->> 'micros')::bigint) as q)`,
    ),
    code: all.map(({ micros, ...one }) =>
      incrementsFor({
        ...one,
        organizationId: newId(),
        projectId,
        gpuModel: 'H200',
        perHour: { currency: 'USD', micros: BigInt(micros) },
      })
        .map(({ counter: { holderType, holderId, measure, unit }, amount }) =>
          [holderType, holderId, measure, unit, amount].join(' '),
        )
        .toSorted(),
    ),
  }));
});

const rate = fc.bigInt(0n, 2n ** 55n);
const seconds = fc.integer({ min: 0, max: 2_592_000 });
const cost = (perHour: bigint, time: number): bigint => (perHour * BigInt(time)) / 3600n;

/** Money about as much as is needed, where the two could differ by rounding, and any other. */
const values = fc.tuple(rate, seconds, rate, seconds).chain(([perHour, time, kept, keptTime]) => {
  const needed = cost(perHour, time) + cost(kept, keptTime);
  const most = 2n ** 62n;
  const near = fc.bigInt(-2n, 2n).map((more) => (needed + more > most ? most : needed + more));
  return fc.tuple(
    fc.oneof(near, fc.bigInt(-most, most)),
    fc.constant(perHour),
    fc.constant(time),
    fc.constant(kept),
    fc.constant(keptTime),
  );
});

it('`covers` says the same in the database and in the code', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(values, { minLength: 200, maxLength: 200 }), async (all) => {
      const rows = all.map(([a, b, c, d, e]) => ({ a: String(a), b: String(b), c, d: String(d), e }));
      const { rows: answers } = await sql<{ covered: boolean }>`
        select covers(v.a, v.b, v.c, v.d, v.e) as covered
        from rows from (json_to_recordset(${JSON.stringify(rows)})
          as (a bigint, b bigint, c integer, d bigint, e integer)) with ordinality as v (a, b, c, d, e, place)
        order by v.place`.execute(database.db);
      expect(answers.map(({ covered }) => covered)).toEqual(all.map((one) => covers(...one)));
    }),
    { numRuns: 20 },
  );
});

it('`kept_beside` counts unused reservations as the code does', async () => {
  const [projects, nodes] = [[newId(), newId()] as const, [newId(), newId(), newId()] as const];
  const perHour = fc.oneof(fc.bigInt(0n, 9n), fc.bigInt(0n, 2n ** 40n));
  const commitments = fc.record({
    kept: fc.array(
      fc.record({
        projectId: fc.constantFrom(...projects),
        nodeIds: fc.subarray([...nodes]),
        perHourMicros: perHour,
      }),
      { maxLength: 4 },
    ),
    launches: fc.array(
      fc.record({
        projectId: fc.constantFrom(...projects),
        nodeId: fc.constantFrom(null, ...nodes),
        micros: perHour,
      }),
      { maxLength: 4 },
    ),
  });
  await holdForAll(commitments, async (all) => ({
    sql: await answers(
      all.map(({ kept, launches }) => ({
        kept: kept.map((one): StoredKept => ({ ...one, perHourMicros: String(one.perHourMicros) })),
        launches: launches.map(storedLaunch),
      })),
      sql<bigint>`kept_beside((v -> 'kept')::json, (v -> 'launches')::json)`,
    ),
    code: all.map(({ kept, launches }) => keptBeside(kept, launches)),
  }));
});

it('`respects_promise`, the rule of `respect_promises`, says the same in the database and in the code', async () => {
  const people = [newId(), newId(), newId()] as const;
  const time = fc.integer({ min: 0, max: 6 });
  const orOpen = fc.option(time, { nil: Infinity });
  const promise = fc.record({
    holder: fc.constantFrom(...people),
    from: time,
    until: orOpen,
    holders: fc.subarray([...people]),
    now: time,
    endsAt: orOpen,
  });
  const at = (name: string) => sql`to_timestamp((v ->> ${name}::text)::float8)`;
  await holdForAll(promise, async (all) => ({
    // JSON has no infinity: it becomes null, which the tables store for no end.
    sql: await answers(
      all,
      sql<boolean>`respects_promise((v ->> 'holder')::uuid, ${at('from')}, ${at('until')},
        array(select jsonb_array_elements_text(v -> 'holders'))::uuid[], ${at('now')}, ${at('endsAt')})`,
    ),
    code: all.map(({ holder, from, until, ...request }) =>
      respectsHolds({ shape: 'gpu_slice', gpus: 1, region: null, gpuModel: null, ...request }, [
        { holder, from, until },
      ]),
    ),
  }));
});

it('`serialKey` spells a serial as the database does', async () => {
  const serial = fc.string({ unit: fc.constantFrom(' ', '\t', 'a', 'Z', '0', '-'), maxLength: 6 });
  await holdForAll(serial, async (all) => ({
    sql: await answers(
      all.map((text) => ({ text })),
      sql<string>`upper(btrim(v ->> 'text'))`,
    ),
    code: all.map(serialKey),
  }));
});

it('the promises of a node are the same to a launch that locks its slots and to the fleet index', async () => {
  const { db } = database;
  const { nodeId, slotIds } = await addHost(db, 1);
  // Promises without their reservations: only how they are read counts here.
  await sql`set session_replication_role = replica`.execute(db);
  await sql`insert into node_promises (id, node_id, holder_id, starts_at, ends_at, reservation_id)
    select gen_random_uuid(), ${nodeId}, gen_random_uuid(), now() + make_interval(secs => place * 10.0015),
      case when place < 3 then now() + make_interval(secs => place * 20.25) end, gen_random_uuid()
    from generate_series(1, 3) as place`.execute(db);
  await sql`set session_replication_role = default`.execute(db);
  const locked = await sql<{ promises: StoredHold[] }>`
    select promises from lock_free_slots(${slotIds}::uuid[], true, 60)`.execute(db);
  const indexed = await sql<{ promises: StoredHold[] }>`
    select ${selectHolds} as promises from nodes n where n.id = ${nodeId}`.execute(db);
  const holds = parseHolds(locked.rows[0]!.promises);
  expect(holds).toHaveLength(3);
  expect(holds.filter(({ until }) => until === Infinity)).toHaveLength(1);
  expect(parseHolds(indexed.rows[0]!.promises)).toEqual(holds);
});
