import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { notFound } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import { listTasks } from '../tasks/list-tasks.ts';
import { showAllocation } from './show-allocation.ts';
import { showProgress } from './show-timeline.ts';

type AllocationDetail = components['schemas']['AllocationDetail'];

const SHOWN_CLAIMS = 64;
const SHOWN_TASKS = 50;

/** Operators' view of any allocation, with its location and its hosts' tasks. */
export async function showAllocationForOperator(
  services: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  allocationId: string,
): Promise<AllocationDetail> {
  const row = await tx
    .selectFrom('allocations')
    .selectAll()
    .where('id', '=', allocationId)
    .executeTakeFirst();
  if (!row) throw notFound();
  const node = await tx
    .selectFrom('nodes')
    .select(['id as node_id', 'hostname'])
    .where('id', '=', row.node_id)
    .executeTakeFirst();
  const tasks = await listTasks(tx, services.clock.now(), {
    subject_type: 'allocation',
    subject_id: allocationId,
    limit: SHOWN_TASKS,
  });
  return {
    allocation: await showAllocation(services, tx, row),
    node: node ?? null,
    claims: await claimsOf(tx, allocationId),
    stages: await showProgress(tx, row),
    tasks: tasks.items.map(({ id, kind, state, stage, percent, message }) => ({
      task_id: id,
      kind,
      state,
      stage,
      percent,
      message,
      path: `/api/v1/admin/tasks/${id}`,
    })),
  };
}

async function claimsOf(tx: Tx, allocationId: string): Promise<AllocationDetail['claims']> {
  const rows = await tx
    .selectFrom('allocation_resource_claims as c')
    .leftJoin('node_resource_slots as s', 's.id', 'c.slot_id')
    .select(['c.id', 'c.claim_kind', 'c.node_id', 'c.slot_id', 's.slot_index'])
    .select(['c.created_at', 'c.ends_at', 'c.released_at'])
    .where('c.allocation_id', '=', allocationId)
    .orderBy('c.created_at')
    .orderBy('s.slot_index')
    .limit(SHOWN_CLAIMS)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    claim_kind: row.claim_kind,
    node_id: row.node_id,
    slot_id: row.slot_id,
    slot_index: row.slot_index,
    created_at: row.created_at.toISOString(),
    ends_at: row.ends_at?.toISOString() ?? null,
    released_at: row.released_at?.toISOString() ?? null,
  }));
}
