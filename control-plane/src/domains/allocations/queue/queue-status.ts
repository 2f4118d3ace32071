import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { emitAll, type NewEvent } from '../../../platform/events/emit.ts';
import type { Services } from '../../../platform/services.ts';
import { allocationEvent, type AllocationRef } from '../../timeline/allocation-events.ts';

export type QueueStanding = components['schemas']['QueueStanding'];

/** Why a launch cannot start now. */
export interface QueueStatus {
  reason: QueueStanding['reason'];
  detail: string;
  expectedAt: Date | null;
}

/** Stores and publishes the position of each queued launch; unchanged rows are not written. */
export async function updateQueueStatus(
  { db }: Pick<Services, 'db'>,
  orders: readonly (readonly { id: string }[])[],
  standings: ReadonlyMap<string, QueueStatus>,
): Promise<void> {
  const rows = orders.flatMap((order) =>
    order.map(({ id }, index) => {
      const { reason, detail, expectedAt } = standings.get(id) ?? {
        reason: 'capacity',
        detail: '',
        expectedAt: null,
      };
      return { id, position: index + 1, reason, detail: detail.slice(0, 500), expected_at: expectedAt };
    }),
  );
  if (rows.length === 0) return;
  await db.transaction().execute(async (tx) => {
    const { rows: changed } = await sql<Changed>`
      update queued_launches q
      set position = n.position, reason = n.reason, detail = n.detail, expected_at = n.expected_at
      from json_to_recordset(${JSON.stringify(rows)}) as n (id uuid, position integer, reason text, detail text,
          expected_at timestamptz)
        join queued_launches was on was.allocation_id = n.id
        join allocations a on a.id = n.id
      where q.allocation_id = n.id and a.state = 'queued'
        and (q.position, q.reason, q.detail, q.expected_at)
          is distinct from (n.position, n.reason, n.detail, n.expected_at)
      returning a.id, a.organization_id, a.project_id, a.state, a.correlation_id, q.position, q.detail,
        (was.position, was.reason) is distinct from (q.position, q.reason) as moved`.execute(tx);
    const moved = changed.filter((row) => row.moved);
    if (moved.length > 0) await emitAll(tx, moved.map(queueMoved));
  });
}

interface Changed extends AllocationRef {
  position: number;
  detail: string;
  moved: boolean;
}

function queueMoved(row: Changed): NewEvent {
  return allocationEvent('allocation.queue_moved', row, {
    stage: 'queue',
    status: 'running',
    message: `Number ${row.position} in the queue. ${row.detail}`,
  });
}

/** Queue position and reason by allocation. */
export async function queueStatusByAllocation(
  db: Db | Tx,
  allocationIds: readonly string[],
): Promise<Map<string, QueueStanding>> {
  if (allocationIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('queued_launches')
    .selectAll()
    .where('allocation_id', 'in', allocationIds)
    .execute();
  return new Map(
    rows.map((row) => [
      row.allocation_id,
      {
        position: row.position,
        reason: row.reason,
        detail: row.detail,
        expected_at: row.expected_at?.toISOString() ?? null,
        queued_at: row.queued_at.toISOString(),
        expires_at: row.expires_at.toISOString(),
      },
    ]),
  );
}
