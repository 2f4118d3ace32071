import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { sql } from 'kysely';
import { expect } from 'vitest';
import type { LifecycleWorld } from './lifecycle-world.ts';

/** Invariants that hold at any moment, with any work in flight. */
export async function expectInvariants({ api, hosts }: LifecycleWorld): Promise<void> {
  const { db } = api.services;
  expect(hosts.violations(), 'hosts were asked for what must not be').toEqual([]);
  expect(await overlappingClaims(db), 'claims that overlap').toEqual([]);
  expect(await unprovenSlots(db), 'slots for sale without proof').toEqual([]);
  const before = hosts.dirtyDisks();
  const available = await slotsForSale(db);
  const still = new Set(hosts.dirtyDisks());
  const dirty = before.filter((disk) => still.has(disk) && available.has(disk.split(' holds ')[0]!));
  expect(dirty, 'disks with data that are for sale').toEqual([]);
  expect(await verifyQuotas(db, 5), 'quota counters against claims').toEqual([]);
  expect(await understatedCommitments(db), 'commitments above their upper bound').toEqual([]);
  expect(await withoutRunbook(db), 'incidents without a runbook').toEqual([]);
}

/** Counted from the claims themselves, not from the cells that refuse an overlap. */
async function overlappingClaims(db: Db): Promise<unknown[]> {
  const { rows } = await sql`
    select a.id, b.id as other
    from allocation_resource_claims a
      join allocation_resource_claims b on b.node_id = a.node_id and b.id > a.id and b.released_at is null
        and (b.slot_id = a.slot_id or 'node_exclusive' in (a.claim_kind, b.claim_kind))
    where a.released_at is null`.execute(db);
  return rows;
}

/** The last holder of a slot, or of its whole host, before it became available must have left proof. */
async function unprovenSlots(db: Db): Promise<unknown[]> {
  const { rows } = await sql`
    select s.id, c.allocation_id
    from node_resource_slots s
      join allocation_resource_claims c on c.slot_id = s.id or (c.slot_id is null and c.node_id = s.node_id)
    where s.state = 'available' and c.claim_kind = 'slot'
      and (c.released_at is null or not exists (select from wipe_certificates w
        where w.allocation_id = c.allocation_id and w.slot_id = s.id and w.verified))
    union all
    select null, c.allocation_id from allocation_resource_claims c
    where c.claim_kind = 'node_exclusive' and c.released_at is not null
      and not exists (select from host_cleanups h where h.allocation_id = c.allocation_id and h.verified)`.execute(
    db,
  );
  return rows;
}

/** Launches are accepted by the upper bound of what their tenant is bound to pay. */
async function understatedCommitments(db: Db): Promise<unknown[]> {
  const { rows } = await sql`
    select c.organization_id, c.currency, c.running_micros + c.pending_micros as micros, m.per_hour_micros
    from committed_funds((select array_agg(id) from organizations), now()) as c
      left join lateral committed_at_most(c.organization_id, now()) as m on m.currency = c.currency
    where c.running_micros + c.pending_micros > coalesce(m.per_hour_micros, 0)
      or (select sum((k ->> 'perHourMicros')::bigint) from json_array_elements(c.kept) as k)
        > coalesce(m.kept_per_hour_micros, 0)`.execute(db);
  return rows;
}

async function slotsForSale(db: Db): Promise<Set<string>> {
  const rows = await db
    .selectFrom('node_resource_slots')
    .select(['node_id', 'nvme_serial'])
    .where('state', '=', 'available')
    .execute();
  return new Set(rows.map(({ node_id, nvme_serial }) => `${node_id}/${nvme_serial}`));
}

const root = fileURLToPath(new URL('../../../', import.meta.url));

async function withoutRunbook(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('incidents').select(['type', 'runbook']).distinct().execute();
  return rows.filter(({ runbook }) => !existsSync(`${root}${runbook}`)).map(({ type }) => type);
}
