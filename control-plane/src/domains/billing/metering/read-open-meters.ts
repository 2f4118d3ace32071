import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/database.ts';
import type { LeaseFacts, Meter } from './meter-lease.ts';
import type { Outage } from './served-seconds.ts';

export interface OpenMeter {
  allocationId: string;
  organizationId: string;
  projectId: string;
  userId: string | null;
  sku: string;
  region: string;
  gpuCount: number;
  correlationId: string;
  meter: Meter;
  facts: LeaseFacts;
}

interface Row {
  allocation_id: string;
  organization_id: string;
  project_id: string;
  owner_user_id: string | null;
  sku: string;
  region: string;
  gpu_count: number;
  correlation_id: string;
  currency: string;
  per_hour_micros: bigint;
  started_at: Date;
  metered_seconds: bigint;
  billed_seconds: bigint;
  billed_micros: bigint;
  records: bigint;
  seen_revision: bigint;
  ended_at: Date | null;
  unproven_after: Date | null;
  release_requested_at: Date | null;
  last_heartbeat_at: Date | null;
}

/** When the lease ended or will end; of a meter `m` with its allocation `a`. */
const ENDED = sql`coalesce(a.release_requested_at,
  case when a.state in ('released', 'failed') then coalesce(a.released_at, m.started_at) end) as release_requested_at`;

/** Locks the next meters that may need a record; skips those that another process has locked. */
export async function lockDueMeters(
  tx: Tx,
  after: string,
  limit: number,
  windowSeconds: bigint,
): Promise<OpenMeter[]> {
  const { rows } = await sql<Row>`
    select m.*, a.owner_user_id, a.correlation_id, n.last_heartbeat_at, ${ENDED} from allocation_meters m
      join allocations a on a.id = m.allocation_id
      left join nodes n on n.id = a.node_id
    where (m.ended_at is null or m.unproven_after is not null) and m.allocation_id > ${after}
      and ((m.ended_at is null and (a.release_requested_at is not null or a.state in ('released', 'failed')))
        or (m.ended_at is null and n.last_heartbeat_at >= m.started_at
          + make_interval(secs => (m.metered_seconds / ${windowSeconds} + 1) * ${windowSeconds}))
        or exists (select from allocation_outages o
          where o.allocation_id = m.allocation_id and o.revision > m.seen_revision))
    order by m.allocation_id limit ${limit}
    for update of m skip locked`.execute(tx);
  return await withOutages(tx, rows);
}

/** Live meters of a tenant or of one of its projects, to compute the accrual since their last record. */
export async function readLiveMeters(
  tx: Tx,
  scope: { organizationId: string; projectId?: string | undefined },
  page: { after?: string; limit: number },
): Promise<OpenMeter[]> {
  const { rows } = await sql<Row>`
    select m.*, a.owner_user_id, a.correlation_id, lease_heard_at(a.id) as last_heartbeat_at, ${ENDED}
    from allocation_meters m join allocations a on a.id = m.allocation_id
    where m.ended_at is null and m.organization_id = ${scope.organizationId}
      and (${scope.projectId ?? null}::uuid is null or m.project_id = ${scope.projectId ?? null})
      and (${page.after ?? null}::uuid is null or m.allocation_id > ${page.after ?? null})
    order by m.allocation_id limit ${page.limit}`.execute(tx);
  return await withOutages(tx, rows);
}

/** Meters of these allocations, running or ended; allocations that never became active have none. */
export async function readMetersOf(db: Db, allocationIds: readonly string[]): Promise<OpenMeter[]> {
  if (allocationIds.length === 0) return [];
  const { rows } = await sql<Row>`
    select m.*, a.owner_user_id, a.correlation_id, lease_heard_at(a.id) as last_heartbeat_at, ${ENDED}
    from allocation_meters m join allocations a on a.id = m.allocation_id
    where m.allocation_id = any(${[...allocationIds]}::uuid[])`.execute(db);
  return await withOutages(db, rows);
}

async function withOutages(tx: Db, rows: Row[]): Promise<OpenMeter[]> {
  const outages = await outagesOf(
    tx,
    rows.map((row) => row.allocation_id),
  );
  return rows.map((row) => ({
    allocationId: row.allocation_id,
    organizationId: row.organization_id,
    projectId: row.project_id,
    userId: row.owner_user_id,
    sku: row.sku,
    region: row.region,
    gpuCount: row.gpu_count,
    correlationId: row.correlation_id,
    meter: {
      startedAt: row.started_at,
      perHour: { currency: row.currency, micros: row.per_hour_micros },
      meteredSeconds: row.metered_seconds,
      billedSeconds: row.billed_seconds,
      billedMicros: row.billed_micros,
      records: row.records,
      seenRevision: row.seen_revision,
      endedAt: row.ended_at,
      unprovenAfter: row.unproven_after,
    },
    facts: {
      releaseRequestedAt: row.release_requested_at,
      evidenceAt: row.last_heartbeat_at,
      outages: outages.get(row.allocation_id) ?? [],
    },
  }));
}

async function outagesOf(tx: Db, allocationIds: string[]): Promise<Map<string, Outage[]>> {
  if (allocationIds.length === 0) return new Map();
  const { rows } = await sql<Outage & { allocationId: string }>`
    select allocation_id as "allocationId", served, began_at as "beganAt", ended_at as "endedAt", revision
    from allocation_outages where allocation_id = any(${allocationIds}::uuid[])`.execute(tx);
  return Map.groupBy(rows, (row) => row.allocationId);
}
